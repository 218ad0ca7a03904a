import type { WriteContext } from '../codec.ts'
import type { Dialogue, Tool } from '../dialogue.ts'
import type { JsonObject } from '../wire-format.ts'
import { plainTool, writeSearch, writeToolChoice } from './tools-write.ts'

/**
 * The initial response object with every key that clients read, including the caller's settings, which the vendor repeats. The
 * schema of Open Responses requires all keys, and numbers for sampling. Source: types of the official SDK 7.51, protocols notes
 * 1.3, schema of openresponses.org, read 2026-11.
 */
export function newResponse({ id, createdAt, model, dialogue, kept }: WriteContext): JsonObject {
  const { extra, sampling } = dialogue
  return {
    id: `resp_${id}`,
    object: 'response',
    access_programs: null,
    created_at: createdAt,
    status: 'in_progress',
    background: kept?.isBackground ?? false,
    completed_at: null,
    error: null,
    frequency_penalty: sampling.frequencyPenalty ?? 0,
    incomplete_details: null,
    instructions: dialogue.system.map(({ text }) => text).join('\n\n') || null,
    max_output_tokens: dialogue.outputTokensMax ?? null,
    max_tool_calls: extra.max_tool_calls ?? null,
    metadata: extra.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: dialogue.parallelTools ?? true,
    presence_penalty: sampling.presencePenalty ?? 0,
    previous_response_id: kept?.previousId || null,
    prompt_cache_key: dialogue.cacheKey ?? null,
    reasoning: echoedReasoning(dialogue),
    safety_identifier: extra.safety_identifier ?? null,
    service_tier: 'default',
    store: kept !== undefined,
    temperature: sampling.temperature ?? 1,
    text: { format: echoedFormat(dialogue), verbosity: extra.verbosity ?? 'medium' },
    tool_choice: echoedChoice(dialogue),
    tools: [...echoedTools(dialogue.tools), ...writeSearch(dialogue)],
    top_logprobs: dialogue.logprobs?.top ?? 0,
    top_p: sampling.topP ?? 1,
    truncation: extra.truncation ?? 'disabled',
    usage: null,
    user: dialogue.user ?? null,
  }
}

function echoedReasoning({ reasoning }: Dialogue): JsonObject {
  const mode = reasoning?.mode
  const effort = mode === 'off' ? 'none' : typeof mode === 'object' && 'effort' in mode ? mode.effort : null
  return { effort, summary: reasoning?.show === 'summary' ? 'auto' : null }
}

function echoedFormat({ output }: Dialogue): JsonObject {
  if (!output) return { type: 'text' }
  if (output.kind === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = output
  return {
    type: 'json_schema',
    name: name ?? 'response',
    description: description ?? null,
    schema,
    strict: strict ?? false,
  }
}

/** Repeats the tools of a namespace inside of it. */
function echoedTools(tools: readonly Tool[]): JsonObject[] {
  const folders = new Map<string, JsonObject[]>()
  return tools.flatMap((tool) => {
    const { namespace } = tool
    if (!namespace) return [echoedTool(tool)]
    const echoed = echoedTool({ ...tool, ...namespace.tool })
    const known = folders.get(namespace.name)
    known?.push(echoed)
    if (known) return []
    const inside = [echoed]
    folders.set(namespace.name, inside)
    return [{ type: 'namespace', name: namespace.name, description: namespace.description ?? '', tools: inside }]
  })
}

function echoedTool(tool: Tool): JsonObject {
  if (tool.isToolSearch) {
    const { description = null, schema = null } = tool
    return { type: 'tool_search', execution: 'client', description, parameters: schema }
  }
  return { ...(tool.custom ? {} : { description: null, strict: null }), ...plainTool(tool) }
}

function echoedChoice({ toolChoice, tools }: Dialogue): unknown {
  const nameOf = (name: string) => tools.find((tool) => tool.name === name)?.namespace?.tool.name ?? name
  return toolChoice ? writeToolChoice(toolChoice, tools, nameOf, true) : 'auto'
}
