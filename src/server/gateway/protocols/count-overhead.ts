import { arrayAt, isObject, type JsonObject, textAt } from './wire-format.ts'

/**
 * Tokens that vendors write around the texts of a prompt: three for each message, one for a name, eight for each tool, three before
 * the answer. For any dialect; pure. Source: protocols notes 5.2.
 */
export function countOverhead(body: JsonObject): number {
  const messages = ['messages', 'input', 'contents'].flatMap((list) => arrayAt(body, list).filter(isObject))
  const names = messages.filter((message) => textAt(message, 'name') !== '' && message.type === undefined)
  return messages.length * 3 + names.length + toolsIn(body) * 8 + 3
}

/** Gemini keeps several functions in one tool. */
function toolsIn(body: JsonObject): number {
  const tools = [...arrayAt(body, 'tools'), ...arrayAt(body, 'functions')].filter(isObject)
  return tools.reduce((sum, tool) => {
    const declared = arrayAt(tool, 'functionDeclarations').length + arrayAt(tool, 'function_declarations').length
    return sum + Math.max(1, declared)
  }, 0)
}
