import { fail } from '../../../base/lib/failure.ts'
import { strictSchema, toolSchema } from '../anthropic-messages/schema.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, Tool } from '../dialogue.ts'
import { freeTextFunction } from '../function-tools.ts'
import { fieldNameFor, lose } from '../lost-fields.ts'
import { nameTools } from '../tool-names.ts'
import type { JsonObject } from '../wire-format.ts'
import { cachePoint } from './cache-points.ts'
import type { ConverseRules } from './models.ts'

interface WrittenTools {
  /** Tools and their cache points; empty when the request has no tools. */
  readonly tools: readonly JsonObject[]
  readonly toolChoice: JsonObject | undefined
  /** Text to append to the system prompt. */
  readonly instruction: string | undefined
  readonly toolNames: ReadonlyMap<string, string>
  /** Upstream names of free-text tools. */
  readonly customTools: ReadonlySet<string>
  toUpstream(name: string): string
}

interface ToolFacts {
  readonly rules: ConverseRules
  /** Whether a tool call may be forced. */
  readonly canForce: boolean
  /** The tool whose input is the JSON answer. */
  readonly answer: { readonly name: string; readonly schema: JsonObject } | undefined
}

/**
 * The tools and the choice among them. Converse has no choice `none`: without calls in the history the tools are left out,
 * otherwise they stay and the model is instructed not to call them. Bedrock requires the tools of calls in the history, even if the
 * caller did not declare them. Throws `untranslatable` for models without tools. Source: protocols notes 2.7 and 3.3, edge case
 * 108.
 */
export function writeTools(dialogue: Dialogue, context: RequestContext, facts: ToolFacts): WrittenTools {
  const { rules, answer } = facts
  const called = calledNames(dialogue)
  const isForbidden = dialogue.tools.length === 0 || dialogue.toolChoice?.kind === 'none'
  const declared = isForbidden && called.length === 0 ? [] : declaredTools(dialogue, called, rules)
  if (declared.length > 0 && rules.tools === 'none') refuse(dialogue, { zh: '该模型不支持工具', en: 'this model has no tools' })

  const names = nameTools([...(answer ? [answer.name] : []), ...declared.map(({ name }) => name), ...called], nameRule)
  const isStrict = strictness(dialogue, context, rules)
  const tools: JsonObject[] = declared.flatMap((tool) => [
    { toolSpec: { name: names.toUpstream(tool.name), ...specOf(dialogue, context, tool, isStrict(tool)) } },
    ...(rules.cache === 'everywhere' ? cachePoint(tool.cache, rules) : []),
  ])
  if (answer)
    tools.push({ toolSpec: { name: answer.name, description: 'Gives the answer.', inputSchema: { json: answer.schema } } })

  const mustNotCall = isForbidden && declared.length > 0 && !answer
  if (mustNotCall && dialogue.tools.length > 0) lose(dialogue, context, 'toolChoice')
  return {
    tools,
    toolChoice: isForbidden && !answer ? undefined : writeChoice(dialogue, context, facts, names.toUpstream),
    instruction: mustNotCall ? 'Do not call any tool. Answer in text.' : undefined,
    toolNames: names.toCaller,
    customTools: new Set(declared.filter(({ custom }) => custom).map(({ name }) => names.toUpstream(name))),
    toUpstream: names.toUpstream,
  }
}

/** Whether the caller requires a tool call. */
export function forcesTool({ tools, toolChoice }: Dialogue): boolean {
  if (tools.length === 0 || toolChoice === undefined) return false
  return toolChoice.kind === 'required' || toolChoice.kind === 'tool' || (toolChoice.kind === 'allowed' && toolChoice.isRequired)
}

const nameRule = { allowed: /[a-zA-Z0-9_-]/, lengthMax: 64 }
const strictToolsMax = 20

function calledNames({ turns }: Dialogue): string[] {
  return turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])))
}

/**
 * The declared tools, each name once, limited to those that the tool choice allows: for models that cannot be forced to call one
 * tool, this has the same effect. If none are declared, tools for the calls in the history.
 */
function declaredTools(dialogue: Dialogue, called: readonly string[], rules: ConverseRules): Tool[] {
  const byName = new Map<string, Tool>()
  for (const tool of dialogue.tools) {
    const before = byName.get(tool.name)
    if (before && JSON.stringify(before) !== JSON.stringify(tool)) {
      refuse(dialogue, { zh: `两个工具同名：${tool.name}`, en: `two tools have the name ${tool.name}` })
    }
    byName.set(tool.name, before ?? tool)
  }
  if (byName.size === 0) return [...new Set(called)].map((name) => ({ ...undeclared, name }))
  const { toolChoice } = dialogue
  const offered = [...byName.values()]
  if (toolChoice?.kind === 'tool' && rules.tools === 'any') return offered.filter(({ name }) => name === toolChoice.name)
  return toolChoice?.kind === 'allowed' ? offered.filter(({ name }) => toolChoice.names.includes(name)) : offered
}

const undeclared = { description: undefined, schema: undefined, strict: undefined, custom: undefined }

function specOf(dialogue: Dialogue, context: RequestContext, tool: Tool, isStrict: boolean): JsonObject {
  const { description = '', schema, custom } = tool
  if (custom) {
    const free = freeTextFunction(tool, dialogue, context)
    return { ...described(free.description ?? ''), inputSchema: { json: free.schema } }
  }
  const input = toolSchema(schema)
  return {
    ...described(description),
    inputSchema: { json: isStrict ? strictSchema(input) : input },
    ...(isStrict ? { strict: true } : {}),
  }
}

/** Bedrock rejects an empty description. */
function described(description: string): JsonObject {
  return description.trim() === '' ? {} : { description }
}

/** Whether a tool is strict: only the first tools up to the maximum are. */
function strictness({ from }: Dialogue, context: RequestContext, { takesSchemas }: ConverseRules): (tool: Tool) => boolean {
  let count = 0
  return ({ strict, custom }) => {
    if (strict !== true || custom) return false
    if (takesSchemas && count++ < strictToolsMax) return true
    context.lose(`${fieldNameFor(from, 'tools')}.strict`)
    return false
  }
}

function writeChoice(
  dialogue: Dialogue,
  context: RequestContext,
  { rules, canForce, answer }: ToolFacts,
  toUpstream: (name: string) => string,
): JsonObject | undefined {
  const { toolChoice, tools } = dialogue
  if (answer) return tools.length === 0 || toolChoice?.kind === 'none' ? { tool: { name: answer.name } } : { any: {} }
  if (!forcesTool(dialogue)) return undefined
  if (!canForce || rules.tools === 'auto' || rules.tools === 'none') {
    lose(dialogue, context, 'toolChoice')
    return undefined
  }
  return toolChoice?.kind === 'tool' && rules.tools === 'tool' ? { tool: { name: toUpstream(toolChoice.name) } } : { any: {} }
}

function refuse({ from }: Dialogue, reason: { zh: string; en: string }): never {
  return fail('untranslatable', { field: fieldNameFor(from, 'tools'), reason })
}
