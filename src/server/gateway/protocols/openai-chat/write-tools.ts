import type { Tool, ToolChoice } from '../dialogue.ts'
import { freeTextFunction } from '../function-tools.ts'
import type { JsonObject } from '../wire-format.ts'
import { fitsStrict } from './strict-schema.ts'
import { writeCacheMark } from './write-parts.ts'
import type { Writing } from './writing.ts'

interface WrittenTools {
  readonly members: JsonObject
  /** Whether the model takes tools whose input is free text. */
  readonly keepsCustom: boolean
  /** Names of the free-text tools that were converted to functions. */
  readonly customTools: ReadonlySet<string>
}

/**
 * Tools, the choice among them, and whether several may be called at once. None of it is written without tools. When only a subset
 * may be called and the model has no setting for that, the other tools are left out. Source: protocols notes 3.3, edge cases 95,
 * 96, 110, 112, 114.
 */
export function writeTools(writing: Writing): WrittenTools {
  const { dialogue, rules, names } = writing
  const keepsCustom = rules.takesCustomTools === true
  const custom = dialogue.tools.filter((tool) => tool.custom !== undefined)
  const customTools = new Set(keepsCustom ? [] : custom.map(({ name }) => names.toUpstream(name)))
  const { toolChoice, parallelTools } = dialogue
  const narrows = toolChoice?.kind === 'allowed' && !rules.takesCustomTools
  const offered = dialogue.tools.filter(({ name }) => !narrows || toolChoice.names.includes(name))
  const own = writing.isOwn ? (dialogue.vendorOnly ?? []).flatMap(({ sent }) => (sent ? [sent] : [])) : []
  if (offered.length + own.length === 0) return { members: {}, keepsCustom, customTools }

  const written = offered.map((tool) => (tool.custom && keepsCustom ? writeCustom(tool, writing) : writeFunction(tool, writing)))
  const tools = [...written, ...own]
  return {
    members: { tools, tool_choice: toolChoice && writeChoice(toolChoice, writing), parallel_tool_calls: parallelTools },
    keepsCustom,
    customTools,
  }
}

function writeFunction(tool: Tool, writing: Writing): JsonObject {
  const { description, schema } = tool.custom ? freeTextFunction(tool, writing.dialogue, writing) : tool
  const declared = {
    name: writing.names.toUpstream(tool.name),
    ...(description ? { description } : {}),
    ...(schema ? { parameters: objectSchema(schema) } : {}),
    ...(isStrict(tool, writing) ? { strict: true } : {}),
  }
  return { type: 'function', function: declared, ...writeCacheMark(tool, writing, 'tool') }
}

function writeCustom({ name, description, custom }: Tool, { names }: Writing): JsonObject {
  const declared = {
    name: names.toUpstream(name),
    ...(description ? { description } : {}),
    ...(custom?.format ? { format: nestedFormat(custom.format) } : {}),
  }
  return { type: 'custom', custom: declared }
}

/** Responses has the members of a grammar next to `type`, Chat in `grammar`. */
function nestedFormat(format: unknown): unknown {
  if (typeof format !== 'object' || format === null || !('syntax' in format)) return format
  const { type: _, ...grammar } = format as JsonObject & { type?: unknown }
  return { type: 'grammar', grammar }
}

/** Not every host supports the member, and OpenAI refuses a schema that violates its rules. */
function isStrict({ strict, schema }: Tool, { dialogue, quirks, lose }: Writing): boolean {
  if (strict !== true) return false
  const fits = dialogue.from.startsWith('openai.') || (schema !== undefined && fitsStrict(schema))
  const isKept = quirks.takesStrictTools !== false && fits
  if (!isKept) lose('strict')
  return isKept
}

/** OpenAI refuses a schema without `type`, and an object schema without `properties`. */
function objectSchema(schema: JsonObject): JsonObject {
  const typed = 'type' in schema ? schema : { type: 'object', ...schema }
  return typed.type === 'object' && !('properties' in typed) && !('$ref' in typed) ? { ...typed, properties: {} } : typed
}

function writeChoice(choice: ToolChoice, { dialogue, quirks, rules, names }: Writing): unknown {
  const required = quirks.requiredChoice ?? 'required'
  const named = (name: string) => {
    const isCustom = rules.takesCustomTools && dialogue.tools.some((tool) => tool.name === name && tool.custom)
    const called = { name: names.toUpstream(name) }
    return isCustom ? { type: 'custom', custom: called } : { type: 'function', function: called }
  }
  switch (choice.kind) {
    case 'auto':
    case 'none':
      return choice.kind
    case 'required':
      return required
    case 'tool':
      return named(choice.name)
    case 'allowed': {
      if (!rules.takesCustomTools) return choice.isRequired ? required : 'auto'
      const mode = choice.isRequired ? 'required' : 'auto'
      return { type: 'allowed_tools', allowed_tools: { mode, tools: choice.names.map(named) } }
    }
  }
}
