import { useSettings } from "@/api/queries";
import { Button } from "@/parts/Button";
import { Problem } from "@/parts/Problem";
import { Skeleton } from "@/parts/Skeleton";
import { GROUPS } from "./fields";
import { LimitField } from "./LimitField";
import { SaveBar } from "./SaveBar";
import { Card, Section } from "./Section";
import { useLimitsEditor } from "./useLimitsEditor";
import { WhatCounts } from "./WhatCounts";

/** What a user allows for each question. */
export function Limits() {
  const { data: settings, error, refetch } = useSettings();
  const { editor, state } = useLimitsEditor(settings);
  return (
    <>
      <Section
        title="Limits for each question"
        lead="They apply from your next question on. The operator and the tree can set lower limits."
        aside={settings && <WhatCounts settings={settings} drafts={state.drafts} />}
      >
        {settings ? (
          GROUPS.map((group) => (
            <Card key={group[0]}>
              {group.map((name) => {
                const bounds = settings.fields[name];
                return (
                  bounds && (
                    <LimitField
                      key={name}
                      name={name}
                      bounds={bounds}
                      saved={settings[name]}
                      draft={state.drafts[name]}
                      tree={settings.tree}
                      editor={editor}
                    />
                  )
                );
              })}
            </Card>
          ))
        ) : error ? (
          <Problem
            title="The limits cannot be shown."
            action={
              <Button size="small" onClick={() => void refetch()}>
                Try again
              </Button>
            }
          >
            {error.message}
          </Problem>
        ) : (
          <Skeleton />
        )}
      </Section>
      {settings && <SaveBar state={state} editor={editor} />}
    </>
  );
}
