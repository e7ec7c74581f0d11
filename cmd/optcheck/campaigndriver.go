package main

import (
	campaigns "optcheck/audit/campaign"
)

// withDriver opens the campaign in a folder and passes it to f with a driver.
func withDriver(dir string, f func(c *campaigns.Campaign, d *campaigns.Driver) error) error {
	c, err := campaigns.Open(dir)
	if err != nil {
		return err
	}
	d, release, err := campaigns.NewDriver(c)
	if err != nil {
		return err
	}
	defer release()
	return f(c, d)
}
