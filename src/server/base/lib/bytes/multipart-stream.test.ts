import { expect, test } from 'vitest'
import { MalformedForm, readFormPieces } from './multipart-stream.ts'

const form = [
  '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n',
  '--b\r\ncontent-disposition: form-data; name="file"; filename="in.jsonl"\r\ncontent-type: application/jsonl\r\n\r\n',
  'one\r\n--not the boundary\r\ntwo\r\n',
  '--b\r\ncontent-disposition: form-data; name="empty"\r\n\r\n\r\n--b--\r\n',
].join('')

async function read(text: string, size: number) {
  const pieces: string[] = []
  const parts: [string, string][] = []
  async function* chunks() {
    for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
  }
  for await (const piece of readFormPieces(chunks(), 'b')) {
    pieces.push(piece.bytes.toString())
    const last = parts.at(-1)
    if (piece.kind === 'part') parts.push([piece.head.name, ''])
    else if (piece.kind === 'data' && last) last[1] += piece.bytes.toString()
  }
  return { bytes: pieces.join(''), parts }
}

test.each([1, 2, 3, 7, 64, 10_000])(
  'a form that arrives in pieces of %i bytes is read the same, and no byte of it changes',
  async (size) => {
    expect(await read(form, size)).toEqual({
      bytes: form,
      parts: [
        ['purpose', 'batch'],
        ['file', 'one\r\n--not the boundary\r\ntwo'],
        ['empty', ''],
      ],
    })
  },
)

test.each([
  ['does not begin with its delimiter', `x${form}`],
  ['is cut off', form.slice(0, -8)],
  ['goes on after its end', `${form}more`],
  ['has a header without a name', form.replace('; name="purpose"', '')],
])('a form that %s is refused', async (_, text) => {
  await expect(read(text, 5)).rejects.toThrow(MalformedForm)
})
