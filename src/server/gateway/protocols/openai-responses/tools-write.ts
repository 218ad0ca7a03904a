import type { Dialogue, Tool, ToolChoice } from '../dialogue.ts'
import { freeTextFunction } from '../function-tools.ts'
import { fitsStrict } from '../openai-chat/strict-schema.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import type { Writing } from './writing.ts'

interface WrittenTools {
  readonly members: JsonObject
  /** Whether the model accepts tools with free-text input. */
  readonly keepsCustom: boolean
  /** Names of the free-text tools that were converted to functions. */
  readonly customTools: ReadonlySet<string>
}

/**
 * Tools, the vendor's own search among them, and the choice among them. Of tools with the same name the first is used. Nothing is
 * written if there are no tools. Source: protocols notes 3.3.
 */
export function writeTools(writing: Writing): WrittenTools {
  const { dialogue, rules, names } = writing
  const keepsCustom = rules.takesCustomTools === true
  const tools = dialogue.tools.filter(({ name }, at) => dialogue.tools.findIndex((other) => other.name === name) === at)
  const custom = keepsCustom ? [] : tools.filter((tool) => tool.custom !== undefined)
  const customTools = new Set(custom.map(({ name }) => names.toUpstream(name)))
  const written = tools.map((tool) => writeTool(tool, writing, keepsCustom))
  const all = [...written, ...writeSearch(dialogue)]
  if (all.length === 0) return { members: {}, keepsCustom, customTools }

  const { toolChoice, parallelTools } = dialogue
  return {
    members: {
      tools: all,
      tool_choice:
        toolChoice && tools.length > 0 ? writeToolChoice(toolChoice, dialogue.tools, names.toUpstream, keepsCustom) : undefined,
      parallel_tool_calls: tools.length > 0 ? parallelTools : undefined,
    },
    keepsCustom,
    customTools,
  }
}

/** An absent `strict` means true in this format, and false in all others. */
function writeTool(tool: Tool, writing: Writing, keepsCustom: boolean): JsonObject {
  const { dialogue, quirks, names, lose } = writing
  const name = names.toUpstream(tool.name)
  if (tool.custom) {
    if (keepsCustom) return plainTool({ ...tool, name })
    return plainTool({ ...tool, name, ...freeTextFunction(tool, dialogue, writing), custom: undefined, strict: false })
  }
  const schema =
    tool.schema === undefined ? emptySchema : 'type' in tool.schema ? tool.schema : { type: 'object', ...tool.schema }
  if (quirks.takesStrictTools === false) {
    if (tool.strict) lose('strict')
    return plainTool({ ...tool, name, schema, strict: undefined })
  }
  if (dialogue.from === 'openai.responses') return plainTool({ ...tool, name, schema })
  const isStrict = tool.strict === true && (dialogue.from.startsWith('openai.') || fitsStrict(schema))
  if (tool.strict && !isStrict) lose('strict')
  return plainTool({ ...tool, name, schema, strict: isStrict })
}

const emptySchema: JsonObject = { type: 'object', properties: {} }

/** A tool in the form of Responses, for requests and replies. */
export function plainTool({ name, description, schema, strict, custom }: Tool): JsonObject {
  const withDescription = description === undefined ? {} : { description }
  if (custom) return { type: 'custom', name, ...withDescription, ...(custom.format ? { format: flatFormat(custom.format) } : {}) }
  return { type: 'function', name, ...withDescription, parameters: schema ?? null, ...(strict === undefined ? {} : { strict }) }
}

/** Chat has the members of a grammar in `grammar`, Responses next to `type`. */
function flatFormat(format: unknown): unknown {
  return isObject(format) && isObject(format.grammar) ? { type: 'grammar', ...format.grammar } : format
}

export function writeSearch({ search }: Pick<Dialogue, 'search'>): JsonObject[] {
  if (!search) return []
  const { contextSize, location } = search
  return [
    {
      type: 'web_search',
      ...(contextSize ? { search_context_size: contextSize } : {}),
      ...(location ? { user_location: { type: 'approximate', ...location } } : {}),
    },
  ]
}

/** The choice among tools, in requests and in replies. */
export function writeToolChoice(
  choice: ToolChoice,
  tools: readonly Tool[],
  nameOf: (name: string) => string,
  keepsCustom: boolean,
): unknown {
  const named = (name: string) => {
    const isCustom = keepsCustom && tools.some((tool) => tool.name === name && tool.custom)
    return { type: isCustom ? 'custom' : 'function', name: nameOf(name) }
  }
  switch (choice.kind) {
    case 'tool':
      return named(choice.name)
    case 'allowed':
      return { type: 'allowed_tools', mode: choice.isRequired ? 'required' : 'auto', tools: choice.names.map(named) }
    default:
      return choice.kind
  }
}
