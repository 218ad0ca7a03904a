import { describe, expect, it } from 'vitest'
import { CompletionCheck, mask } from './completion-check.ts'
import { findWord, WordList } from './word-list.ts'

function check(words: readonly string[], { stops = false, piecesKept = 0 } = {}) {
  return new CompletionCheck({ words: new WordList(words), stops, piecesKept })
}

/** The output for a text that arrives in these pieces. */
function through(
  words: readonly string[],
  pieces: readonly string[],
  rule: { stops?: boolean; piecesKept?: number } = {},
): string {
  const one = check(words, rule)
  return pieces.map((piece) => one.push(piece).pass).join('') + one.flush().pass
}

const letters = (text: string) => [...text]

describe('masking', () => {
  it('replaces a word wherever the text is split, and leaves every other letter', () => {
    const text = 'before badword between BADWORD after bad word'
    for (const pieces of [[text], letters(text), text.split(/(?<=b)/), [text.slice(0, 9), '', text.slice(9)]])
      expect(through(['badword'], pieces)).toBe(`before ${mask} between ${mask} after bad word`)
  })

  it('holds back only a possible beginning of a word', () => {
    const one = check(['badword'])
    expect(one.push('hello ')).toEqual({ pass: 'hello ', found: undefined })
    expect(one.push('ba')).toEqual({ pass: '', found: undefined })
    expect(one.push('d luck').pass).toBe('bad luck')
    expect(one.push('the badword')).toEqual({ pass: `the ${mask}`, found: 'badword' })
    expect(one.push('bad').pass).toBe('')
    expect(one.flush().pass).toBe('bad')
  })

  it('masks the longest of words with the same beginning, and overlapping words as one', () => {
    expect(through(['bad', 'badword'], letters('a badword, a badwor, a bad.'))).toBe(`a ${mask}, a ${mask}wor, a ${mask}.`)
    expect(through(['abcd', 'cdef'], letters('xabcdefx'))).toBe(`x${mask}x`)
    expect(through(['bad'], letters('badbad'))).toBe(mask + mask)
    expect(through(['a', 'aaaa'], letters('aaaa'))).toBe(mask)
  })

  it('ignores case, width, compatibility forms and invisible letters', () => {
    const seen = (text: string) => through(['bad 敏感词'], letters(text))
    for (const text of [
      'BAD 敏感词',
      'ｂａｄ　敏感词',
      'b\u200Ba\u00ADd\uFEFF 敏\u2060感词',
      '𝐛𝒶𝔡 敏感词',
      'b\u0000ad\u202E 敏感\u{E0041}词',
      'ⓑⓐⓓ 敏感词',
    ])
      expect(seen(`x${text}y`), text).toBe(`x${mask}y`)
    expect(through(['ﬁne'], letters('FINE fine ﬁne'))).toBe(`${mask} ${mask} ${mask}`)
    expect(through(['fi'], letters('oﬃce'))).toBe(`o${mask}ce`)
    expect(through(['B\u200Bad'], letters('bad'))).toBe(mask)
    expect(through(['\u200B', ''], letters('any\u200Bthing'))).toBe('any\u200Bthing')
  })

  it('does not break characters whose two surrogates arrive in different pieces', () => {
    const [high = '', low = ''] = ['😀'.slice(0, 1), '😀'.slice(1)]
    expect(through(['bad'], ['b', `ad${high}`, `${low}bad`])).toBe(`${mask}😀${mask}`)
    expect(through(['😀!'], [`x${high}`, `${low}`, '!x'])).toBe(`x${mask}x`)
    expect(through(['bad'], ['ba', high])).toBe(`ba${high}`)
  })
})

describe('stopping', () => {
  it('stops the output at the start of the first word, even if the word began in an earlier piece', () => {
    const one = check(['badword', 'worse'], { stops: true })
    expect(one.push('this is a bad')).toEqual({ pass: 'this is a ', found: undefined })
    expect(one.push('Word and more')).toEqual({ pass: '', found: 'badword' })
    expect(one.push('worse')).toEqual({ pass: '', found: 'badword' })
    expect(one.flush()).toEqual({ pass: '', found: 'badword' })
    expect(check(['badword'], { stops: true }).push('a badword b')).toEqual({ pass: 'a ', found: 'badword' })
  })

  it('holds back the last pieces, so that the text right before the word is not passed either', () => {
    const one = check(['badword'], { stops: true, piecesKept: 2 })
    expect(['one ', 'two ', 'three ', 'four '].map((piece) => one.push(piece).pass)).toEqual(['', '', 'one ', 'two '])
    expect(one.push('five badword')).toEqual({ pass: '', found: 'badword' })
    expect(one.flush().pass).toBe('')
    expect(through(['badword'], letters('nothing here'), { stops: true, piecesKept: 5 })).toBe('nothing here')
    expect(through(['badword'], letters('a badword here'), { piecesKept: 3 })).toBe(`a ${mask} here`)
  })
})

/** A slow reference that finds every occurrence of every word. */
function naive(words: readonly string[], text: string, stops: boolean): string {
  const places = words.flatMap((word) =>
    [...Array(text.length).keys()]
      .filter((from) => text.startsWith(word, from))
      .map((from) => ({ from, to: from + word.length })),
  )
  if (stops) {
    const [first] = places.sort((a, b) => a.to - b.to || a.from - b.from)
    return first ? text.slice(0, first.from) : text
  }
  const merged: { from: number; to: number }[] = []
  for (const place of places.sort((a, b) => a.from - b.from || b.to - a.to)) {
    const last = merged.at(-1)
    if (last && place.from < last.to) last.to = Math.max(last.to, place.to)
    else merged.push({ ...place })
  }
  return merged.reduceRight((out, { from, to }) => out.slice(0, from) + mask + out.slice(to), text)
}

it('equals a plain search for any words, texts and cuts', () => {
  let seed = 11
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const text = (length: number) => Array.from({ length }, () => 'abc'[random(3)]).join('')
  for (let round = 0; round < 3000; round++) {
    const words = Array.from({ length: 1 + random(4) }, () => text(1 + random(5)))
    const whole = text(random(40))
    const pieces: string[] = []
    for (let at = 0; at < whole.length; ) {
      const length = 1 + random(6)
      pieces.push(whole.slice(at, at + length))
      at += length
    }
    const told = JSON.stringify({ words, pieces })
    expect(through(words, pieces), told).toBe(naive(words, whole, false))
    expect(through(words, pieces, { stops: true }), told).toBe(naive(words, whole, true))
    expect(findWord(new WordList(words), [whole]) !== undefined, told).toBe(words.some((word) => whole.includes(word)))
  }
})

it('gives the same result for a short list, which is searched directly, and for a long one', () => {
  const words = ['Bad Word', '坏', 'ｆｕｌｌ', 'tab\there']
  const lists = [words, [...words, ...Array.from({ length: 50 }, (_, n) => `unseen ${n}!`)]].map((list) => new WordList(list))
  const texts = {
    'a BAD wORD': true,
    'so FULL': true,
    'so ｆull': true,
    'a tab\there': true,
    很坏: true,
    'bad  word': false,
    '': false,
  }
  for (const [text, found] of Object.entries(texts))
    expect(
      lists.map((list) => findWord(list, ['good', text]) !== undefined),
      text,
    ).toEqual([found, found])
})

describe('hostile texts', () => {
  const alike = Array.from({ length: 10_000 }, (_, n) => `${'a'.repeat(1 + (n % 15))}${n}z`)

  it('take at most two steps for each letter, for any list and text', () => {
    const lists = [
      alike,
      [`${'a'.repeat(1000)}b`],
      [`${'ab'.repeat(500)}c`, 'b'.repeat(900)],
      Array.from({ length: 300 }, (_, n) => `${'a'.repeat(n + 1)}c`),
    ]
    const texts = ['a'.repeat(1_000_000), 'ab'.repeat(500_000), '\u200B'.repeat(1_000_000), `${'a'.repeat(999)}x`.repeat(1000)]
    for (const list of lists) {
      const words = new WordList(list)
      for (const text of texts) {
        words.lookups = 0
        expect(findWord(words, [text])).toBe(undefined)
        expect(words.lookups).toBeLessThanOrEqual(2 * text.length + 2)
      }
    }
  })

  it('pass through unchanged, chunk by chunk, with no more work for many chunks than for one', () => {
    const words = new WordList(alike)
    const one = new CompletionCheck({ words, stops: false, piecesKept: 0 })
    const piece = 'a'.repeat(100)
    words.lookups = 0
    let length = 0
    for (let n = 0; n < 10_000; n++) length += one.push(piece).pass.length
    length += one.flush().pass.length
    expect(length).toBe(1_000_000)
    expect(words.lookups).toBeLessThanOrEqual(2_000_002)
  })

  it('are masked even if they contain a word a million times', () => {
    expect(through(['a'], ['a'.repeat(1_000_000)]).length).toBe(1_000_000 * mask.length)
  })
})
