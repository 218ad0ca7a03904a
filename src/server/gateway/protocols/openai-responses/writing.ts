import type { Quirks, RequestContext } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { type Field, lose } from '../lost-fields.ts'
import { splitEffort } from '../openai-chat/models.ts'
import { nameTools, type ToolNames } from '../tool-names.ts'
import { type ModelRules, rulesOf } from './models.ts'

/** Shared context of the writers of one request. */
export interface Writing {
  readonly dialogue: Dialogue
  readonly quirks: Quirks
  readonly rules: ModelRules
  readonly names: ToolNames
  /** Reports a neutral field that is lost, by the caller's name. */
  loseField(field: Field): void
  /** Reports anything else that is lost. */
  lose(word: string): void
}

export function beginWriting(dialogue: Dialogue, context: RequestContext): Writing {
  return {
    dialogue,
    quirks: context.quirks,
    rules: rulesOf(splitEffort(context.model).model),
    names: nameTools(toolNamesIn(dialogue), toolNameRule),
    loseField: (field) => lose(dialogue, context, field),
    lose: (word) => context.lose(word),
  }
}

/** Compatible hosts accept only names of this form, regardless of later additions by the vendor. */
const toolNameRule = { allowed: /[a-zA-Z0-9_-]/, lengthMax: 64 }

function toolNamesIn({ tools, turns }: Dialogue): string[] {
  const called = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])))
  return [...tools.map(({ name }) => name), ...called]
}
