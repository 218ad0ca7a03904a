import { describe, expect, it } from 'vitest'
import { pastSignatures } from './past-signatures.ts'

const call = { functionCall: { name: 'look', args: {} } }
const contents = [
  { role: 'user', parts: [{ text: 'Hi' }] },
  {
    role: 'model',
    parts: [
      { text: 'so', thought: true },
      { ...call, thoughtSignature: 'one' },
    ],
  },
  { role: 'user', parts: [{ functionResponse: { name: 'look', response: {} } }] },
  {
    role: 'model',
    parts: [{ text: 'Yes.', thought_signature: 'two' }, { text: '', thoughtSignature: 'three' }, call],
  },
]
function partsAfter(model: string, isRefused: (seal: string) => boolean): { readonly parts: readonly object[] }[] | undefined {
  const changed = pastSignatures.changes({ contents }, model, { isRefused })?.changes.contents
  // Each content of these has parts.
  return changed as ReturnType<typeof partsAfter>
}

describe('refused signatures of Gemini', () => {
  it('are read in both spellings, without the placeholder', () => {
    expect(pastSignatures.seals({ contents })).toEqual(['one', 'two', 'three'])
    const placed = [{ role: 'model', parts: [{ ...call, thoughtSignature: 'skip_thought_signature_validator' }] }]
    expect([pastSignatures.has({ contents }), pastSignatures.has({ contents: placed })]).toEqual([true, false])
  })

  it('are left out up to the refused one, and replaced at a call where the model needs them', () => {
    const isRefused = (seal: string) => seal === 'two'
    const after = [
      contents[0],
      {
        role: 'model',
        parts: [
          { text: 'so', thought: true },
          { ...call, thoughtSignature: 'skip_thought_signature_validator' },
        ],
      },
      contents[2],
      { role: 'model', parts: [{ text: 'Yes.' }, { text: '', thoughtSignature: 'three' }, call] },
    ]
    expect(partsAfter('gemini-3-pro', isRefused)).toEqual(after)
    expect(partsAfter('gemini-2.5-pro', isRefused)?.[1]?.parts[1]).toEqual(call)
    expect(partsAfter('gemini-3-pro', () => false)).toBeUndefined()
  })

  it('take an empty part with them that has only carried them', () => {
    expect(partsAfter('gemini-3-pro', () => true)?.[3]?.parts).toEqual([{ text: 'Yes.' }, call])
  })

  it('leave the bytes of all other contents as they were', () => {
    const kept = '{ "role":"user", "parts":[{"text":"1\\u0041", "n":10000000000000000001}] }'
    const raw = `{"contents":[${kept},{"role":"model","parts":[{"text":"a","thoughtSignature":"x"}]}], "safetySettings":[ ]}`
    const sent = { json: JSON.parse(raw), bytes: Buffer.from(raw) }
    const cleaned = pastSignatures.without(sent, 'gemini-3-pro', { all: true })
    expect([cleaned?.bytes.toString(), cleaned?.dropped]).toEqual([
      `{"contents":[${kept},{"role":"model","parts":[{"text":"a"}]}], "safetySettings":[ ]}`,
      ['contents.thoughtSignature'],
    ])
    expect(JSON.parse(cleaned?.bytes.toString() ?? '')).toEqual(cleaned?.json)
  })
})
