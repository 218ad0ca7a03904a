import { withoutTrailing } from '../../../contract/trailing.ts'
import type { ChatMessage, ChatRequest, ContentPart } from '../../lib/stream-chat.ts'

/**
 * The same request for a terminal or a program. The group is not part of it: there, the token decides it. Images are replaced by an
 * address.
 */

export const codeKinds = ['curl', 'python', 'node', 'anthropic'] as const
export type CodeKind = (typeof codeKinds)[number]
export const codeNames: Readonly<Record<CodeKind, string>> = {
  curl: 'curl',
  python: 'OpenAI Python',
  node: 'OpenAI Node.js',
  anthropic: 'Anthropic Python',
}

const standIn = 'https://example.com/picture.png'

export const hasPictures = ({ messages }: ChatRequest): boolean => messages.some((message) => picturesOf(message).length > 0)

export function codeOf(kind: CodeKind, { group: _, ...request }: ChatRequest, address: string): string {
  const base = withoutTrailing(address, '/')
  return writers[kind](base, { ...request, messages: request.messages.map(withStandIns) })
}

type Body = Omit<ChatRequest, 'group'>

const writers: Readonly<Record<CodeKind, (base: string, body: Body) => string>> = {
  curl: (base, body) =>
    [
      `curl -N ${base}/v1/chat/completions \\`,
      '  -H "Authorization: Bearer $API_KEY" \\',
      '  -H "Content-Type: application/json" \\',
      `  -d '${JSON.stringify({ ...body, stream: true }, null, 2).replaceAll("'", `'\\''`)}'`,
    ].join('\n'),

  python: (base, body) => `import os

from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(`${base}/v1`)}, api_key=os.environ["API_KEY"])

stream = client.chat.completions.create(
${keywords(body)}
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
`,

  node: (base, body) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${JSON.stringify(`${base}/v1`)}, apiKey: process.env.API_KEY })

const stream = await client.chat.completions.create(${JSON.stringify({ ...body, stream: true }, null, 2)})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? '')
}
`,

  anthropic: (base, body) => `import os

from anthropic import Anthropic

client = Anthropic(base_url=${JSON.stringify(base)}, api_key=os.environ["API_KEY"])

with client.messages.stream(
${keywords(anthropicBody(body))}
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
`,
}

/** The Messages API requires a limit. */
const anthropicTokens = 4096

/** The parts that the Messages API supports; an image made by an assistant has no form there. */
function anthropicBody({ model, messages, max_tokens, temperature, top_p }: Body): object {
  const system = messages.flatMap(({ role, content }) => (role === 'system' ? [content] : []))
  return {
    model,
    max_tokens: max_tokens ?? anthropicTokens,
    ...(system.length > 0 ? { system: system.join('\n') } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(top_p === undefined ? {} : { top_p }),
    messages: messages
      .filter(({ role }) => role !== 'system')
      .map(({ role, content }) => ({ role, content: typeof content === 'string' ? content : content.map(anthropicPart) })),
  }
}

function anthropicPart(part: ContentPart): object {
  if (part.type === 'text') return part
  return { type: 'image', source: { type: 'url', url: part.image_url.url } }
}

const picturesOf = ({ content, images = [] }: ChatMessage): readonly ContentPart[] =>
  [...(typeof content === 'string' ? [] : content), ...images].filter(({ type }) => type === 'image_url')

function withStandIns({ images, ...message }: ChatMessage): ChatMessage {
  const { content } = message
  return {
    ...message,
    content: typeof content === 'string' ? content : content.map(standInFor),
    ...(images ? { images: images.map(standInFor) } : {}),
  }
}

const standInFor = (part: ContentPart): ContentPart => (part.type === 'text' ? part : { ...part, image_url: { url: standIn } })

/** JSON of strings, numbers, lists and objects is also valid Python. */
const keywords = (body: object): string =>
  Object.entries(body)
    .map(([name, value]) => `    ${name}=${JSON.stringify(value, null, 4).replaceAll('\n', '\n    ')},`)
    .join('\n')
