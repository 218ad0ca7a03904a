/**
 * The kind of application behind a key follows from the operator's name for its model, by convention: `workflow…` and `completion…`,
 * `agent…` for agents, anything else for a chat or a chatflow.
 */
export type AppKind = 'chat' | 'agent' | 'completion' | 'workflow'

export function appKindOf(model: string): AppKind {
  const kind = /^(agent|completion|workflow)/.exec(model)?.[1]
  return kind === 'agent' || kind === 'completion' || kind === 'workflow' ? kind : 'chat'
}
