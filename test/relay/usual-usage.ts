import { countTokens } from '../../src/server/gateway/protocols/count-tokens.ts'
import type { Dearest, HoldShape } from './hold-shapes.ts'

/** What an honest vendor reports for a shape: its texts counted, a document of ten pages behind a reference, and an answer of 120 tokens. */
export async function usualUsageOf(shape: HoldShape): Promise<HoldShape['usage']> {
  const { body } = shape
  if (typeof body === 'function' || priced.test(shape.path)) return shape.usage
  const { texts, numbers } = spokenIn(body)
  const counted = (await countTokens(texts.join('\n'), shape.model)) + numbers
  return (sent) => {
    const dearest = shape.usage(sent)
    const { imageIn = 0, audioIn = 0 } = dearest
    const media = shape.isUnbounded ? 0 : imageIn + audioIn
    const prompt = shape.isUnbounded ? documentTokens : counted + media + 8
    const output = dearest.output === 0 ? 0 : Math.min(sent.limit ?? answerTokens, answerTokens) * completionsOf(body)
    const ofPrompt = (name: 'cacheWrite30m' | 'cacheWrite1h' | 'cacheWrite12h') => (dearest[name] ? { [name]: counted } : {})
    const ofOpen = (name: 'audioIn' | 'cachedAudio') => (shape.isUnbounded && dearest[name] ? { [name]: prompt - 100 } : {})
    return {
      prompt,
      output,
      ...ofPrompt('cacheWrite30m'),
      ...ofPrompt('cacheWrite1h'),
      ...ofPrompt('cacheWrite12h'),
      ...(media > 0 ? { imageIn, audioIn } : {}),
      ...ofOpen('audioIn'),
      ...ofOpen('cachedAudio'),
      ...(dearest.audioOut ? { audioOut: output } : {}),
      ...(dearest.videoOut ? { videoOut: output } : {}),
      ...(dearest.searches ? { searches: 2 } : {}),
    } satisfies Dearest
  }
}

/** Sold by the piece, with one cost for each request. */
const priced = /\/(images|audio)\//
const documentTokens = 8_000
const answerTokens = 120

/** The texts that a model reads, without the names and the types of members. */
function spokenIn(value: unknown, name = ''): { texts: string[]; numbers: number } {
  if (typeof value === 'string') return { texts: unspoken.has(name) || value.startsWith('data:') ? [] : [value], numbers: 0 }
  if (typeof value === 'number') return { texts: [], numbers: name === '' ? 1 : 0 }
  if (typeof value !== 'object' || value === null) return { texts: [], numbers: 0 }
  const parts = Array.isArray(value)
    ? value.map((entry) => spokenIn(entry, ['prompt', 'input'].includes(name) ? '' : name))
    : Object.entries(value).map(([key, entry]) => spokenIn(entry, key))
  return { texts: parts.flatMap(({ texts }) => texts), numbers: parts.reduce((sum, { numbers }) => sum + numbers, 0) }
}

const unspoken = new Set(['role', 'type', 'ttl', 'mode', 'url', 'data', 'format', 'media_type', 'modalities', 'voice'])

function completionsOf(body: Readonly<Record<string, unknown>>): number {
  const { n = body.best_of, prompt, generationConfig } = body as Record<string, number | unknown[] | { candidateCount?: number }>
  if (typeof n === 'number') return n
  if (Array.isArray(prompt) && typeof prompt[0] === 'string') return prompt.length
  const { candidateCount = 1 } = (generationConfig ?? {}) as { candidateCount?: number }
  return candidateCount
}
