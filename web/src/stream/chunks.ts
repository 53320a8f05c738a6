/** The chunks of an answer, as the service describes them. */
import type { components } from "@/api/schema";

type Schemas = components["schemas"];

export type Chunk = Schemas["Chunk"];
export type AnsweredChunk = Schemas["AnsweredChunk"];
export type DoneChunk = Schemas["DoneChunk"];
export type ErrorChunk = Schemas["ErrorChunk"];
export type SystemChunk = Schemas["SystemChunk"];
export type Source = Schemas["Source"];
export type TerminationReason = DoneChunk["termination_reason"];

/** A chunk with its number in the run: 1, 2, 3, … without gaps. */
export interface NumberedChunk {
  readonly id: number;
  readonly chunk: Chunk;
}
