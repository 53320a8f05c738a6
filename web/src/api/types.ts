/** Short names of what the service sends; `schema.ts` is generated from its description. */
import type { components } from "./schema";

export type Schemas = components["schemas"];
export type AgentSettings = Schemas["AgentSettings"];
export type TreeHead = Schemas["TreeHead"];
