import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "@/api/client";
import { settingsQuery, useTrees } from "@/api/queries";
import type { AgentSettings } from "@/api/types";
import { Menu } from "@/parts/Menu";
import { duration, number, plural } from "@/parts/format";
import type { EditorState } from "./editor";
import { warnsAt, type LimitName } from "./fields";

interface WhatCountsProps {
  settings: AgentSettings;
  drafts: EditorState["drafts"];
}

const CELL = "pt-[3px] px-0 pb-0.5 font-regular whitespace-nowrap";

/** The limits as they will count for a tree, and who has lowered them. */
export function WhatCounts({ settings, drafts }: WhatCountsProps) {
  const [chosen, setChosen] = useState(settings.tree);
  const { data: trees } = useTrees();
  const isOther = chosen !== settings.tree;
  const other = useQuery({
    queryKey: [...settingsQuery.queryKey, chosen],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/settings/agent-config", { params: { query: { tree: chosen } }, signal })),
    enabled: isOther,
  });
  const { effective, capped } = (isOther ? other.data : undefined) ?? settings;
  const version = trees?.trees.find((tree) => tree.name === chosen)?.run_version;
  const askable = trees?.trees.filter((tree) => !tree.internal && tree.run_version !== null) ?? [];

  const by = (name: LimitName): string => {
    if (drafts[name]) return "not saved";
    return capped[name]?.by ?? "";
  };
  const rows: [string, string, string][] = [
    ["turns", number(effective.max_iterations), by("max_iterations")],
    [
      "warn at",
      plural(warnsAt(effective.max_iterations, effective.soft_warning_percent), "turn"),
      by("soft_warning_percent"),
    ],
    ["tokens", number(effective.token_budget), by("token_budget")],
    [
      "warn at",
      number(warnsAt(effective.token_budget, effective.token_warning_percent)),
      by("token_warning_percent"),
    ],
    ["time", `${effective.timeout_seconds} s`, by("timeout_seconds")],
    ["tool calls", `${effective.max_tool_calls_per_turn} a turn`, by("max_tool_calls_per_turn")],
    ["parallel calls", number(effective.max_parallel_tools), by("max_parallel_tools")],
  ];
  return (
    <aside
      className="flex-[0_0_216px] pt-12.5 text-sm max-[1100px]:flex-[1_1_216px] max-[1100px]:max-w-100 max-[1100px]:pt-0"
      aria-labelledby="what-counts"
    >
      <h2 id="what-counts" className="mb-1 text-ink-2 text-xs">
        Limits in effect
      </h2>
      <table className="w-full border-collapse font-mono">
        <tbody>
          {rows.map(([what, value, who], index) => (
            <tr key={index} className="border-b border-line">
              <th scope="row" className={`w-27 text-ink-3 text-left ${CELL}`}>
                {what}
              </th>
              <td className={CELL} title={what === "time" ? duration(effective.timeout_seconds) : undefined}>
                {value}
              </td>
              <td
                className={`${CELL} text-right font-sans ${who === "tree" || who === "operator" ? "text-warn" : "text-ink-3"}`}
              >
                {who}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="mt-3 text-ink-3">
        For{" "}
        <code className="text-ink-2">
          {chosen}
          {version && `@${version.slice(0, 7)}`}
        </code>
        .{" "}
        {askable.length > 1 && (
          <Menu
            label="Tree"
            align="end"
            button={(props) => (
              <button type="button" className="text-button" {...props}>
                Another tree
              </button>
            )}
            items={askable.map((tree) => ({
              label: tree.name,
              checked: tree.name === chosen,
              onSelect: () => setChosen(tree.name),
            }))}
          />
        )}
      </div>
    </aside>
  );
}
