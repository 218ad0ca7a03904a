import { describe, expect, it } from 'vitest'
import { mark, Redactor, secretsOfChannelIn, secretsOfKey } from './recorded-secrets.ts'

const callerKey = 'sk-Q7sDfgHjk0123456789-12'
const pair = 'app-id-0815|se+cret/"part"=='
const json = '{\n  "type": "service_account",\n  "key": "ab\\ncd"\n}'
const redactor = () => new Redactor([callerKey, ...secretsOfKey(pair), json])

/** The masked text when it arrives in these slices. */
function masked(slices: readonly string[]): string {
  const masking = redactor().masking()
  return slices.map((slice) => masking.push(slice)).join('') + masking.end()
}

const forms = [callerKey, pair, json].flatMap((secret) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
])
const parts = ['Q7sDfgHjk0123456789', 'Q7sDfgHjk0123456789-12', 'app-id-0815', 'se+cret/"part"==', 'se+cret/\\"part\\"==']
const members = [
  '{"password":"x"}',
  '{"API_KEY" :\n\t "value \\" with \\\\ quotes", "next":1}',
  `{"x-authorization-token":"${'long '.repeat(50)}"}`,
  '{"headers":{"Authorization":"Bearer \\u00e9"}}',
]

describe('secrets in a body', () => {
  it.each([...forms, ...parts])('that the server knows are masked wherever a cut between slices falls: %j', (secret) => {
    const text = `before 😀 ${secret} after ${secret}${secret}`
    const whole = masked([text])
    expect(whole).toBe(`before 😀 ${mark} after ${mark}${mark}`)
    for (let cut = 0; cut <= text.length; cut++) expect(masked([text.slice(0, cut), text.slice(cut)]), `${cut}`).toBe(whole)
    expect(masked([...text])).toBe(whole)
  })

  it.each(members)('that are members of JSON by their names are masked wherever a cut between slices falls: %s', (text) => {
    const whole = masked([text])
    expect(whole).toBe(text.replace(/"(?:[^"\\]|\\.)*"(?=\s*[,}])/, `"${mark}"`))
    for (let cut = 0; cut <= text.length; cut++) expect(masked([text.slice(0, cut), text.slice(cut)]), `${cut}`).toBe(whole)
    expect(masked([...text])).toBe(whole)
  })

  it('leave every other text as it is, however it is cut', () => {
    const texts = [
      '',
      '{"password":null,"api_key": 5,"token":"x","id-token"}',
      'the password "password" : is',
      'sk-Q7sDfgHjk012345678 app-id-081 se+cret',
      '"password"',
      '😀'.repeat(40),
      'a\\',
    ]
    for (const text of texts) {
      expect(masked([text])).toBe(text)
      expect(masked([...text])).toBe(text)
      for (let cut = 0; cut <= text.length; cut++) expect(masked([text.slice(0, cut), text.slice(cut)])).toBe(text)
    }
  })

  it('are masked to the end where a value is cut off', () => {
    expect(masked(['{"password":"begun', ' and cut \\'])).toBe(`{"password":"${mark}`)
  })

  it('are found as the longer one where one is the beginning of another', () => {
    const of = new Redactor(['12345678', '1234567890', '12345678-90'])
    expect(of.text('1234567890 12345678-90 12345678x')).toBe(`${mark} ${mark} ${mark}x`)
  })

  it('are not values that are too short for a secret', () => {
    const short = new Redactor(['', 'sk-', 'seven77', 'sk-abc'])
    expect(short.text('a seven77 sk- sk-abc')).toBe('a seven77 sk- sk-abc')
  })
})

describe('secrets of a channel in the headers of a request', () => {
  const inHeaders = (sent: Record<string, string>, received: Record<string, string> = {}) => secretsOfChannelIn(sent, received)

  it('are tokens, signatures and overrides, but nothing that the caller sent', () => {
    expect(inHeaders({ authorization: 'Bearer made.token', 'x-title': 'public' })).toEqual([
      'Bearer made.token',
      'Bearer',
      'made.token',
    ])
    expect(inHeaders({ session_id: 'chosen by the caller' }, { session_id: 'chosen by the caller' })).toEqual([])
    const signed = 'AWS4-HMAC-SHA256 Credential=AKID/x, SignedHeaders=host;content-type, Signature=0123abcd'
    expect(inHeaders({ authorization: signed })).toEqual([signed, '0123abcd'])
  })
})
