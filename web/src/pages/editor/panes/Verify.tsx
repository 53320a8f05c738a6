import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { Button } from "@/parts/Button";
import { duration, number, plural } from "@/parts/format";
import { Mark, type MarkKind } from "@/parts/Mark";
import { Select } from "@/parts/Select";

import { trials } from "../calls";
import type { Verification } from "../types";
import { Remark, TrialResult, type TrialProps } from "./Trial";

type Property = Verification["properties"][number];

const MARKS: Record<Verification["verdict"], MarkKind> = {
  proven: "success",
  refuted: "error",
  not_decided: "warning",
};
const WORDS: Record<Verification["verdict"], string> = {
  proven: "proven",
  refuted: "refuted",
  not_decided: "not decided",
};

interface VerifyProps extends TrialProps {
  /** The trees in which the text can be tried; a part alone is no control. */
  explored: readonly string[];
  /** The tree's own rules, without the properties that hold for every tree. */
  onlyRules: boolean;
}

/** Quick enough to ask after each edit; and as many turns as contain each repetition that the shipped nodes count. */
const FIRST_TURNS = 2;
const ALL_TURNS = 3;

/** All behaviours of the tree, explored. It takes processor time: it is asked for, and for a few turns first. */
export function Verify({ name, text, isReady, explored, onlyRules }: VerifyProps) {
  const [asked, ask] = useState<string | null>(null);
  const [chosen, choose] = useState<string | null>(null);
  const [turns, setTurns] = useState(FIRST_TURNS);
  const of = chosen ?? explored[0] ?? name;
  const query = useQuery({ ...trials.verify(name, text, of, turns), enabled: isReady && asked === text });
  if (explored.length === 0) return <Remark>No tree that answers questions uses this file.</Remark>;
  const begin = () => {
    setTurns(FIRST_TURNS);
    ask(text);
  };
  if (!query.data && !query.error && asked !== text) {
    return (
      <div className="grid gap-3 justify-items-start p-4 text-ink-2">
        <p>
          Explores everything that the tree can do in {plural(FIRST_TURNS, "turn")}, and checks whether each{" "}
          {onlyRules ? "of its rules" : "property"} always holds.
        </p>
        <div className="flex items-center gap-2">
          {explored.length > 1 && (
            <Select
              label="Tree"
              value={of}
              options={explored.map((each) => ({ value: each, label: each }))}
              onChange={(event) => choose(event.target.value)}
            />
          )}
          <Button disabled={!isReady} onClick={begin}>
            Verify {of}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <TrialResult query={query} isReady={isReady} busy="Exploring">
      {({ result, seconds }) => {
        const shown = result.properties.filter((each) => !onlyRules || each.is_rule);
        return (
          <>
            <header className="flex items-center gap-2 py-3 px-4">
              <Mark kind={MARKS[worst(shown)]} size={13} label={null} />
              <h2 className="flex-1 text-md">
                {result.tree}: {plural(result.states, "state")}
              </h2>
              <span className="text-ink-3">{duration(seconds)}</span>
            </header>
            <Remark>
              {number(result.transitions)} transitions, {number(result.ends)} ends, up to{" "}
              {plural(result.bounds.turns, "turn")}.
              {result.bounds.stopped_at && ` Not everything was explored: ${result.bounds.stopped_at}.`}
            </Remark>
            {turns < ALL_TURNS && (
              <Button className="mx-4 mb-2" onClick={() => setTurns(ALL_TURNS)}>
                Explore {plural(ALL_TURNS, "turn")}
              </Button>
            )}
            {onlyRules && shown.length === 0 && <Remark>The tree has no rules.</Remark>}
            <ul>
              {shown.map((property) => (
                <Verdict key={property.name} property={property} />
              ))}
            </ul>
          </>
        );
      }}
    </TrialResult>
  );
}

function Verdict({ property }: { property: Property }) {
  return (
    <li className="flex gap-2 py-2 px-4">
      <Mark kind={MARKS[property.verdict]} size={13} className="mt-1" label={WORDS[property.verdict]} />
      <div className="min-w-0">
        <b>{property.name}</b> <span className="text-ink-3">{WORDS[property.verdict]}</span>
        <p className="text-ink-3">{property.text}</p>
        {property.problem && <p>{property.problem}</p>}
        {property.story && (
          <details>
            <summary>The shortest way there</summary>
            <pre>{property.story.join("\n")}</pre>
          </details>
        )}
        {property.other_stories.map((story) => (
          <details key={story.join("\n")}>
            <summary>Another way</summary>
            <pre>{story.join("\n")}</pre>
          </details>
        ))}
      </div>
    </li>
  );
}

function worst(properties: readonly Property[]): Verification["verdict"] {
  if (properties.some((each) => each.verdict === "refuted")) return "refuted";
  return properties.some((each) => each.verdict === "not_decided") ? "not_decided" : "proven";
}
