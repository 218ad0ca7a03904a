import type { Provider, Upstream } from '../providers/provider.ts'

/** A channel as the relay uses it: read from the snapshot without I/O, with its key opened. */
export interface RunningChannel extends Upstream {
  readonly name: string
  readonly provider: Provider
  readonly models: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  /** Each redirected model and the one that goes upstream. */
  readonly modelMapping: ReadonlyMap<string, string>
  /** Statuses that this channel's answers are turned into, before retry is decided. */
  readonly statusCodeMapping: ReadonlyMap<number, number>
  readonly priority: number
  readonly weight: number
  readonly autoBan: boolean
  readonly tag: string
  readonly testModel: string
  /** Prompts estimated longer than this go elsewhere; 0 for no limit. */
  readonly maxInputTokens: number
  /** The key as it is stored: tells whether it was replaced since. */
  readonly keySealed: string
}

/** All enabled channels, arranged for selection. Built anew on every change. */
export interface ChannelIndex {
  /** Enabled channels by id. */
  readonly byId: ReadonlyMap<number, RunningChannel>
  /** Enabled channels that serve a model to a group, highest priority first, one array per priority. */
  candidates(group: string, model: string): readonly (readonly RunningChannel[])[]
  /** Names of the models that a group can use, sorted. */
  modelsOf(group: string): readonly string[]
}
