{
  "device": "NVIDIA H200",
  "driver": "580.159.04",
  "compiler": "ptxas 13.0.98",
  "target": "sm_90",
  "level": "O3",
  "patch_words": 8,
  "idioms_agree": true,
  "sequence": "st st st",
  "spread": 48,
  "distances": [
    256,
    6,
    256
  ],
  "epsilon": 3,
  "executions": 1024,
  "seconds": 289.979645695,
  "seed": 1,
  "tuning": {
    "stress-base": "0..2016",
    "stress-lane": "0",
    "stress-line": "32",
    "stress-lines": "48",
    "stress-pattern": "st-st-st",
    "stress-wrap": "2048"
  }
}
