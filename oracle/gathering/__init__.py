"""What the tools of a query have found so far, and whether it suffices.

`Gathered` is the record of the calls: which groups and words were tried, what was new. `SufficiencyJudge` says whether
more calls can bring anything; `HeuristicSufficiency` is the default, and anything that implements the protocol can
replace it. `why_needless` says of one call that was not run yet whether it can only repeat what is known. All are pure
functions of the recorded results, so a replay comes to the same verdicts.
"""
