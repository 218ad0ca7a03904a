import type { ChatRequest } from '../../lib/stream-chat.ts'

/** The same request for a terminal or a program. The group is not part of it: there, the token decides it. */

export const codeKinds = ['curl', 'python', 'node'] as const
export type CodeKind = (typeof codeKinds)[number]
export const codeNames: Readonly<Record<CodeKind, string>> = { curl: 'curl', python: 'Python', node: 'Node.js' }

export function codeOf(kind: CodeKind, { group: _, max_tokens, ...rest }: ChatRequest, address: string): string {
  const base = `${address.replace(/\/+$/, '')}/v1`
  const body: Body = { ...rest, ...(max_tokens > 0 ? { max_tokens } : {}), stream: true }
  return writers[kind](base, body)
}

type Body = Omit<ChatRequest, 'group' | 'max_tokens'> & { readonly max_tokens?: number; readonly stream: true }

const writers: Readonly<Record<CodeKind, (base: string, body: Body) => string>> = {
  curl: (base, body) =>
    [
      `curl -N ${base}/chat/completions \\`,
      '  -H "Authorization: Bearer $API_KEY" \\',
      '  -H "Content-Type: application/json" \\',
      `  -d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`,
    ].join('\n'),

  python: (base, { stream: _, ...body }) => `import os

from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(base)}, api_key=os.environ["API_KEY"])

stream = client.chat.completions.create(
${Object.entries(body)
  .map(([name, value]) => `    ${name}=${indented(JSON.stringify(value, null, 4), 4)},`)
  .join('\n')}
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
`,

  node: (base, body) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: process.env.API_KEY })

const stream = await client.chat.completions.create(${JSON.stringify(body, null, 2)})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? '')
}
`,
}

const indented = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`)
