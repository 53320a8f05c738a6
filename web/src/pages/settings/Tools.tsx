import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Badge } from "@/parts/Badge";
import { Problem } from "@/parts/Problem";
import { Skeleton } from "@/parts/Skeleton";
import { Card, Fact, Section, Setting } from "./Section";

/** The MCP servers and their tools. What they say of themselves is shown as plain text, whatever it looks like. */
export function Tools() {
  const { data, error } = useQuery({
    queryKey: ["tool-servers"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/tool-servers", { signal })),
  });
  return (
    <Section
      title="Tools"
      isReadOnly
      lead="Tools of MCP servers that the model can call. The servers wrote the descriptions."
    >
      {error ? (
        <Problem title="The servers cannot be listed.">{error.message}</Problem>
      ) : data === undefined ? (
        <Skeleton label="Loading the servers" />
      ) : data.servers.length === 0 ? (
        <p>
          This service uses no MCP servers. Set <code>ORACLE_MCP_SERVERS</code> to a file that lists some.
        </p>
      ) : (
        data.servers.map((server) => <Server key={server.name} server={server} />)
      )}
    </Section>
  );
}

function Server({ server }: { server: Schemas["ToolServer"] }) {
  const { name, is_connected: isConnected, problem, tools, left_out: leftOut } = server;
  return (
    <section aria-label={name}>
      <h2 className="flex items-center gap-2 mt-4 mb-2">
        <code>{name}</code>
        {isConnected ? (
          <Badge tone="ok">connected</Badge>
        ) : problem ? (
          <Badge tone="err">cannot be reached</Badge>
        ) : (
          <Badge tone="run">not tried yet</Badge>
        )}
      </h2>
      {problem && <p className="mb-2 text-ink-3 wrap-anywhere">{problem}</p>}
      {tools.length + leftOut.length === 0 ? (
        <p className="text-ink-3">No tools are offered.</p>
      ) : (
        <Card>
          {tools.map((tool) => (
            <Setting key={tool.name} name={<Name>{tool.name}</Name>} text={<Words>{tool.description}</Words>}>
              <Fact>{`${tool.writes ? "writes" : "reads"}${tool.needs_approval ? ", needs approval" : ""}`}</Fact>
            </Setting>
          ))}
          {leftOut.map((tool) => (
            <Setting
              key={tool.name}
              name={<Name>{`${name}.${tool.name}`}</Name>}
              text={<Words>{tool.problem}</Words>}
            >
              <Fact>not offered</Fact>
            </Setting>
          ))}
        </Card>
      )}
    </section>
  );
}

const Name = ({ children }: { children: string }) => (
  <strong className="font-mono text-sm wrap-anywhere">
    <bdi>{children}</bdi>
  </strong>
);
const Words = ({ children }: { children: string }) => <bdi className="wrap-anywhere">{children}</bdi>;
