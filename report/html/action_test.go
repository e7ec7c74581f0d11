package html

import (
	"context"

	"github.com/chromedp/chromedp"
)

// action is something that a browser does.
type action = chromedp.Action[chromedp.Void]

// script runs statements of JavaScript.
func script(text string) action {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Evaluate[any]("(() => {"+text+"; return null; })()")(ctx, t)
		return chromedp.Void{}, err
	}
}
