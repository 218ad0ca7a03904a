import { quoted, string } from '../../../contract/clients/writing.ts'
import type { Token } from '../../../contract/entities/token.ts'
import { fullKey } from '../../lib/full-key.ts'

/** Clipboard texts for using a token elsewhere. */

/** A token and where it is used. */
interface TokenUse {
  readonly token: Token
  /** The address of the server, without a trailing slash. */
  readonly address: string
}

/** A model that the token may use, if it is limited to some; otherwise a common one. */
function exampleModel({ model_limits_enabled: limited, model_limits: models }: Token): string {
  return (limited && models.split(',')[0]) || 'gpt-6-luna'
}

export function curlOf({ token, address }: TokenUse): string {
  const body = JSON.stringify({ model: exampleModel(token), messages: [{ role: 'user', content: 'Hello' }] })
  return [
    `curl ${quoted(`${address}/v1/chat/completions`)}`,
    `  -H "Authorization: Bearer ${fullKey(token)}"`,
    '  -H "Content-Type: application/json"',
    `  -d ${quoted(body)}`,
  ].join(' \\\n')
}

/** Python, as most of the SDK's users write it. */
export function sdkOf({ token, address }: TokenUse): string {
  return `from openai import OpenAI

client = OpenAI(
    base_url=${string(`${address}/v1`)},
    api_key=${string(fullKey(token))},
)
reply = client.chat.completions.create(
    model=${string(exampleModel(token))},
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.choices[0].message.content)
`
}
