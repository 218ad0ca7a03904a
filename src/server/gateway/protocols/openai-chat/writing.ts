import type { Quirks, RequestContext } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { type Field, lose } from '../lost-fields.ts'
import { nameTools, type ToolNames } from '../tool-names.ts'
import { type ModelRules, rulesOf, splitEffort } from './models.ts'

/** Shared context of the writers of one request. */
export interface Writing {
  readonly dialogue: Dialogue
  readonly model: string
  readonly quirks: Quirks
  readonly rules: Omit<ModelRules, 'model'>
  readonly names: ToolNames
  /** Whether the caller also speaks Chat, so that the request's members are valid unchanged. */
  readonly isOwn: boolean
  /** The member for prompt-cache breakpoints; undefined when the host has none. */
  readonly cacheMember: 'cache_control' | 'prompt_cache_breakpoint' | undefined
  /** Reports a neutral field that is lost, by the caller's name. */
  loseField(field: Field): void
  /** Reports anything else that is lost. */
  lose(word: string): void
}

/** Looks up the facts about the model, the host and the tool names, once for all writers. */
export function beginWriting(dialogue: Dialogue, context: RequestContext): Writing {
  const { model, quirks } = context
  const rules = rulesOf(splitEffort(model).model)
  return {
    dialogue,
    model,
    quirks,
    rules,
    names: nameTools(toolNamesIn(dialogue), { allowed: /[a-zA-Z0-9_-]/, lengthMax: 64 }),
    isOwn: dialogue.from === 'openai.chat',
    cacheMember: quirks.takesCacheControl ? 'cache_control' : rules.takesCacheBreakpoints ? 'prompt_cache_breakpoint' : undefined,
    loseField: (field) => lose(dialogue, context, field),
    lose: (word) => context.lose(word),
  }
}

function toolNamesIn({ tools, turns }: Dialogue): string[] {
  const called = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])))
  return [...tools.map(({ name }) => name), ...called]
}
