import { describe, expect, it } from 'vitest'
import { base64Source, readMediaUrl, sniffMediaType, writeDataUrl } from './media.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\n1234', 'latin1').toString('base64')
const pdf = Buffer.from('%PDF-1.7 ?>?>').toString('base64')

describe('media', () => {
  it('[172] prefers the sniffed type to the declared one', () => {
    expect(readMediaUrl(`data:image/jpeg;base64,${png}`)).toEqual({ kind: 'base64', mediaType: 'image/png', data: png })
    expect(base64Source('AAAA', 'image/jpg').kind).toBe('base64')
    expect(base64Source('AAAA', 'image/jpg')).toMatchObject({ mediaType: 'image/jpeg' })
  })

  it('[173] removes white space from base64 and rewrites the URL alphabet', () => {
    const broken = `${png.slice(0, 5)}\r\n ${png.slice(5)}`
    expect(readMediaUrl(`data:;base64,${broken}`)).toMatchObject({ mediaType: 'image/png', data: png })
    expect(base64Source('-_-_', 'image/png')).toMatchObject({ data: '+/+/' })
    expect(base64Source('AAA', '')).toMatchObject({ data: 'AAA=', mediaType: 'application/octet-stream' })
  })

  it('[175] reads base64 without a prefix as bytes', () => {
    expect(readMediaUrl(pdf)).toMatchObject({ kind: 'base64', mediaType: 'application/pdf' })
    expect(readMediaUrl('AAAA', 'text/csv')).toMatchObject({ mediaType: 'text/csv' })
  })

  it('reads parameters and percent-encoding of data URLs', () => {
    expect(readMediaUrl('data:text/plain;charset=utf-8;base64,aGk=')).toMatchObject({ mediaType: 'text/plain', data: 'aGk=' })
    expect(readMediaUrl('data:,a%20b%')).toMatchObject({ mediaType: 'text/plain', data: Buffer.from('a b%').toString('base64') })
    expect(readMediaUrl('DATA:text/html,%C3%A9')).toMatchObject({ data: Buffer.from('é').toString('base64') })
  })

  it('[178] leaves URLs unchanged', () => {
    expect(readMediaUrl('https://a.example/b.png')).toEqual({ kind: 'url', url: 'https://a.example/b.png' })
    expect(readMediaUrl('gs://bucket/b', 'image/png')).toEqual({ kind: 'url', url: 'gs://bucket/b', mediaType: 'image/png' })
  })

  it.each(['', 'not an address!', './file.png'])('refuses %j', (url) => {
    expect(() => readMediaUrl(url)).toThrow(expect.objectContaining({ code: 'field_invalid' }))
  })

  it('recognizes types by their first bytes', () => {
    const sniffed = (bytes: string) => sniffMediaType(Buffer.from(bytes, 'latin1').toString('base64'))
    expect(['\xff\xd8\xff\xe0', 'GIF89a', 'RIFF1234WEBP', 'RIFF1234WAVE', 'ID3', 'hello', ''].map(sniffed)).toEqual([
      'image/jpeg',
      'image/gif',
      'image/webp',
      'audio/wav',
      'audio/mp3',
      undefined,
      undefined,
    ])
  })

  it('writes every source as a URL or a data URL', () => {
    expect(writeDataUrl({ kind: 'base64', mediaType: 'image/png', data: 'AAAA' })).toBe('data:image/png;base64,AAAA')
    expect(writeDataUrl({ kind: 'text', mediaType: 'text/plain', text: 'é' })).toBe('data:text/plain;base64,w6k=')
    expect(writeDataUrl({ kind: 'url', url: 'https://a.example' })).toBe('https://a.example')
  })
})
