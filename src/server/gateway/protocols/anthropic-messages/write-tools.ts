import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, Search, Tool } from '../dialogue.ts'
import { freeTextFunction } from '../function-tools.ts'
import { fieldNameFor, lose, searchUnless } from '../lost-fields.ts'
import { nameTools } from '../tool-names.ts'
import { type JsonObject, textAt } from '../wire-format.ts'
import { type Block, cacheControl } from './cache-marks.ts'
import type { ModelRules } from './models.ts'
import { countOptional, strictSchema, toolSchema } from './schema.ts'
import type { Thinking } from './thinking.ts'
import type { AnswerForm } from './write-output.ts'

interface WrittenTools {
  readonly tools: Block[]
  readonly toolChoice: JsonObject | undefined
  readonly toolNames: ReadonlyMap<string, string>
  toUpstream(name: string): string
  /** Upstream names of free-text tools. */
  readonly customTools: ReadonlySet<string>
}

interface Facts {
  readonly rules: ModelRules
  readonly thinking: Thinking
  readonly output: AnswerForm
}

/**
 * The tools and the tool choice. A free-text tool becomes a function with the string `input`; a choice of some tools leaves the
 * others out. Throws `untranslatable` when two tools have the same name, or for a web search if the model does not support it and
 * has no other tool. Source: protocols notes 3.3 and 3.9.
 */
export function writeTools(dialogue: Dialogue, context: RequestContext, facts: Facts): WrittenTools {
  const { output, rules } = facts
  const search = searchUnless(searchObstacle(dialogue, rules), dialogue, context)
  const offered = offeredTools(dialogue)
  const names = nameTools([...(output.answerTool ? [output.answerTool.name] : []), ...allNames(dialogue)], nameRule)
  const isStrict = strictness(dialogue, context, rules)
  const tools: Block[] = offered.map((tool) => ({
    name: names.toUpstream(tool.name),
    ...toolMembers(dialogue, context, tool, isStrict),
  }))
  if (output.answerTool) tools.push({ ...output.answerTool, description: 'Gives the answer.' })
  if (search) tools.push(writeSearch(search, rules))

  return {
    tools,
    toolChoice: tools.length === 0 ? undefined : writeChoice(dialogue, context, facts, names.toUpstream),
    toolNames: names.toCaller,
    toUpstream: names.toUpstream,
    customTools: new Set(offered.filter((tool) => tool.custom).map((tool) => names.toUpstream(tool.name))),
  }
}

/** Whether the caller requires a tool call. */
export function forcesTool({ tools, toolChoice }: Dialogue): boolean {
  if (tools.length === 0 || toolChoice === undefined) return false
  return toolChoice.kind === 'required' || toolChoice.kind === 'tool' || (toolChoice.kind === 'allowed' && toolChoice.isRequired)
}

const nameRule = { allowed: /[a-zA-Z0-9_-]/, lengthMax: 128 }
const searchName = 'web_search'
const strictToolsMax = 20
const optionalMembersMax = 24

function allNames({ tools, toolChoice, turns }: Dialogue): string[] {
  const called = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])))
  return [...tools.map(({ name }) => name), ...(toolChoice?.kind === 'tool' ? [toolChoice.name] : []), ...called]
}

function offeredTools({ from, tools, toolChoice }: Dialogue): Tool[] {
  const byName = new Map<string, Tool>()
  for (const tool of tools) {
    const before = byName.get(tool.name)
    const isOther = before !== undefined && JSON.stringify(before) !== JSON.stringify(tool)
    if (isOther) {
      const reason = { zh: `两个工具同名：${tool.name}`, en: `two tools have the name ${tool.name}` }
      fail('untranslatable', { field: fieldNameFor(from, 'tools'), reason })
    }
    byName.set(tool.name, before ?? tool)
  }
  const offered = [...byName.values()]
  return toolChoice?.kind === 'allowed' ? offered.filter(({ name }) => toolChoice.names.includes(name)) : offered
}

function toolMembers(dialogue: Dialogue, context: RequestContext, tool: Tool, isStrict: (tool: Tool) => boolean): JsonObject {
  const { description, schema, custom, cache } = tool
  if (custom) {
    const free = freeTextFunction(tool, dialogue, context)
    return { ...(free.description ? { description: free.description } : {}), input_schema: free.schema, ...cacheControl(cache) }
  }
  const input = toolSchema(schema)
  const strict = isStrict(tool)
  return {
    ...(description ? { description } : {}),
    input_schema: strict ? strictSchema(input) : input,
    ...(strict ? { strict } : {}),
    ...cacheControl(cache),
  }
}

/** Decides for one tool after the other, since the vendor limits the number of strict tools and of their optional members. */
function strictness({ from }: Dialogue, context: RequestContext, rules: ModelRules): (tool: Tool) => boolean {
  const canBe = context.quirks.takesStrictTools ?? rules.takesStrictTools
  let tools = 0
  let optional = 0
  return ({ strict, schema }) => {
    if (strict !== true) return false
    const more = countOptional(schema)
    if (!canBe || tools === strictToolsMax || optional + more > optionalMembersMax) {
      context.lose(`${fieldNameFor(from, 'tools')}.strict`)
      return false
    }
    tools++
    optional += more
    return true
  }
}

/** Why the vendor's search cannot be used. */
function searchObstacle({ tools }: Dialogue, { searchTool }: ModelRules): Text | undefined {
  if (searchTool === undefined) return { zh: '该模型不能搜索网络', en: 'this model cannot search the web' }
  if (!tools.some(({ name }) => name === searchName)) return undefined
  return { zh: `两个工具同名：${searchName}`, en: `two tools have the name ${searchName}` }
}

function writeSearch({ contextSize, location }: Search, { searchTool }: ModelRules): Block {
  const place = Object.fromEntries(
    ['city', 'region', 'country', 'timezone']
      .map((key) => [key, textAt(location ?? {}, key)])
      .filter(([, value]) => value !== ''),
  )
  return {
    type: searchTool,
    name: searchName,
    ...(contextSize ? { max_uses: usesBySize[contextSize] } : {}),
    ...(Object.keys(place).length > 0 ? { user_location: { type: 'approximate', ...place } } : {}),
  }
}

/** The maximum number of searches in one reply; the vendor has no setting for the size of the results. */
export const usesBySize = { low: 1, medium: 5, high: 10 } as const

function writeChoice(
  dialogue: Dialogue,
  context: RequestContext,
  { rules, thinking, output }: Facts,
  toUpstream: (name: string) => string,
): JsonObject | undefined {
  const { toolChoice, parallelTools, tools } = dialogue
  const alone = parallelTools === false && tools.length > 0 ? { disable_parallel_tool_use: true } : {}
  if (output.answerTool) return answerChoice(dialogue, output.answerTool.name, alone)
  if (tools.length === 0 || toolChoice === undefined)
    return 'disable_parallel_tool_use' in alone ? { type: 'auto', ...alone } : undefined
  if (toolChoice.kind === 'none') return { type: 'none' }
  if (!forcesTool(dialogue)) return { type: 'auto', ...alone }
  if (!canForce(rules, thinking)) {
    lose(dialogue, context, 'toolChoice')
    return { type: 'auto', ...alone }
  }
  return toolChoice.kind === 'tool' ? { type: 'tool', name: toUpstream(toolChoice.name), ...alone } : { type: 'any', ...alone }
}

function canForce({ forcedTool }: ModelRules, { isOn, thinking }: Thinking): boolean {
  if (forcedTool === 'never') return false
  return !isOn || (forcedTool === 'unless-budget' && thinking?.type !== 'enabled')
}

/** The answer is a tool call as well: if the caller has tools too, the model has to call one or the other. */
function answerChoice({ tools, toolChoice }: Dialogue, name: string, alone: JsonObject): JsonObject {
  const isOnlyWay = tools.length === 0 || toolChoice?.kind === 'none'
  return isOnlyWay ? { type: 'tool', name, disable_parallel_tool_use: true } : { type: 'any', ...alone }
}
