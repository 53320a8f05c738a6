"""What only a real model can show; `make eval`. docs/internals/measured.md says how to run, read and compare it.

- `questions`: the conversations that are asked, and how an answer in the model's own words is judged.
- `meter`: what the provider reports, in dollars, and the end of a run at its budget. `bounds`: the most it can cost.
- `asking`, `judge`: a conversation under a control, and what a model as judge says of the answers.
- `record`: a run as a file, which can be gone on with and compared. `figures`: measures, intervals, differences.
- `report`, `page`: the tables of a run or a comparison, as text and as a page.
"""
