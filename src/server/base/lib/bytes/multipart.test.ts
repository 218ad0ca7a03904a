import { describe, expect, it } from 'vitest'
import { readBoundary, readMultipart, spliceForm } from './multipart.ts'

const crlf = '\r\n'
const part = (head: string, body: string) => `--b${crlf}${head}${crlf}${crlf}${body}${crlf}`
const named = (name: string, body: string) => part(`Content-Disposition: form-data; name="${name}"`, body)
const file = (more: string, body = 'RIFF') => part(`Content-Disposition: form-data; name="file"; ${more}`, body)
const form = (...parts: string[]) => Buffer.from(`${parts.join('')}--b--${crlf}`, 'latin1')

function read(bytes: Buffer, boundary = 'b', partsMax = 1000) {
  const found = readMultipart(bytes, boundary, partsMax)
  if (typeof found === 'string') throw new Error(found)
  return found
}

const textsOf = (bytes: Buffer) => read(bytes).parts.map(({ name, body }) => [name, body.toString()])

describe('reading a form', () => {
  it("reads the platform's own forms as the platform does, without copying", async () => {
    const data = new FormData()
    data.append('model', 'whisper-1')
    data.append('a "quoted"\r\nname', 'né\r\n--x')
    data.append('file', new Blob([Buffer.from([0, 13, 10, 45, 45, 255])], { type: 'audio/WAV' }), 'naïve "talk".wav')
    data.append('empty', '')
    data.append('model', 'again')
    const encoded = new Response(data)
    const bytes = Buffer.from(await encoded.arrayBuffer())
    const boundary = /boundary=(.*)$/.exec(encoded.headers.get('content-type') ?? '')?.[1] ?? ''
    const { parts } = read(bytes, boundary)
    const expected = [...data].map(([name, value]) =>
      typeof value === 'string' ? [name, undefined, value] : [name, value.name, value.type],
    )
    expect(
      parts.map(({ name, filename, mediaType, body }) => [name, filename, filename === undefined ? body.toString() : mediaType]),
    ).toEqual(expected)
    expect(parts.every(({ body }) => body.buffer === bytes.buffer)).toBe(true)
    expect(parts[2]?.body).toEqual(Buffer.from([0, 13, 10, 45, 45, 255]))
  })

  it('accepts other line ends around it, no quotes, extended names, types and lengths', () => {
    const bytes = form(
      `${crlf}${part('content-disposition: form-data; name=model', 'm')}`,
      part(
        `Content-Type: audio/mpeg${crlf}Content-Length: 4${crlf}CONTENT-DISPOSITION: form-data; filename="C:\\x.mp3"; name="file"`,
        'RIFF',
      ),
      file("filename*=UTF-8''na%C3%AFve.wav"),
    )
    expect(read(bytes).parts.map(({ name, filename, mediaType }) => [name, filename, mediaType])).toEqual([
      ['model', undefined, 'text/plain'],
      ['file', 'C:\\x.mp3', 'audio/mpeg'],
      ['file', 'naïve.wav', 'text/plain'],
    ])
    expect(read(Buffer.from('--b--')).parts).toEqual([])
  })

  it('an ambiguous form is refused', () => {
    const hostile: Record<string, Buffer> = {
      'no boundary': Buffer.from('model=whisper-1'),
      'a preamble': Buffer.from(`hello${crlf}${form(named('model', 'm'))}`),
      'text behind its end': Buffer.concat([form(named('model', 'm')), Buffer.from('more')]),
      'no end': form(named('model', 'm')).subarray(0, -6),
      'line feeds alone': Buffer.from(form(named('model', 'm')).toString().replaceAll(crlf, '\n')),
      'padding behind a delimiter': Buffer.from(form(named('model', 'm')).toString().replace('--b', '--b ')),
      'a delimiter that goes on': form(named('model', `m${crlf}--bc`)),
      'no name': form(part('Content-Disposition: form-data', 'm')),
      'no disposition': form(part('Content-Type: text/plain', 'm')),
      'no head': Buffer.from(`--b${crlf}${crlf}m${crlf}--b--`),
      'two names': form(part('Content-Disposition: form-data; name="model"; name="other"', 'm')),
      'two file names': form(file('filename="a"; filename="b"')),
      'two dispositions': form(
        part(`Content-Disposition: form-data; name="a"${crlf}Content-Disposition: form-data; name="b"`, 'm'),
      ),
      'an escaped quote': form(part('Content-Disposition: form-data; name="a\\"; filename=\\"b"', 'm')),
      'a folded header': form(part(`Content-Disposition: form-data;${crlf} name="model"`, 'm')),
      'an encoding': form(part(`Content-Disposition: form-data; name="model"${crlf}Content-Transfer-Encoding: base64`, 'm')),
      'another disposition': form(part('Content-Disposition: attachment; name="model"', 'm')),
      'a head without end': Buffer.from(
        `--b${crlf}Content-Disposition: form-data; name="${'x'.repeat(20_000)}"${crlf}${crlf}m${crlf}--b--`,
      ),
    }
    for (const [what, bytes] of Object.entries(hostile))
      expect([what, readMultipart(bytes, 'b', 1000)]).toEqual([what, 'malformed'])
    expect(readMultipart(form(...Array.from({ length: 10_000 }, () => named('x', ''))), 'b', 1000)).toBe('too-many')
    expect([null, '', 'x'.repeat(71), 'a\r\nb', 'a"b', 'ends ', '----WebKitFormBoundaryX'].map(readBoundary)).toEqual([
      ...Array.from({ length: 6 }, () => undefined),
      '----WebKitFormBoundaryX',
    ])
  })
})

describe('editing a form', () => {
  const bytes = form(file('filename="t.wav"'), named('model', 'ours'), named('x', '1'), named('x', '2'), named('model', 'again'))

  it('sets, removes and adds fields; every other byte stays where it was', () => {
    const changed = spliceForm(bytes, read(bytes), { model: 'theirs', x: undefined, toString: undefined, 'new "one"': 'n' })
    expect(textsOf(changed)).toEqual([
      ['file', 'RIFF'],
      ['model', 'theirs'],
      ['new "one"', 'n'],
    ])
    expect(changed.toString()).toBe(
      form(file('filename="t.wav"'), named('model', 'theirs'), named('new %22one%22', 'n')).toString(),
    )
    expect(spliceForm(bytes, read(bytes), {}).equals(bytes)).toBe(true)
  })

  it('a file that has the name of a changed field becomes a text field, and no value can end its part', () => {
    const disguised = form(part('Content-Disposition: form-data; name="model"; filename="x"', 'ours'), named('model', 'again'))
    expect(read(spliceForm(disguised, read(disguised), { model: 'theirs' })).parts).toMatchObject([
      { name: 'model', filename: undefined },
    ])
    expect(() => spliceForm(bytes, read(bytes), { model: `x${crlf}--b--` })).toThrow(RangeError)
  })
})
