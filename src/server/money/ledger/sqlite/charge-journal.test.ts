import fs, {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { randomsOf } from '../../../../../test/helpers/randoms.ts'
import { newFolder } from '../../../../../test/helpers/templates.ts'
import { ChargeJournal } from './charge-journal.ts'

const id = 'a1b2c3d4e5f60718'
const run = '1122334455667788'

/** The files of a database in a folder of its own. */
function aJournal() {
  const database = join(newFolder(), 'app.db')
  return {
    database,
    paths: [`${database}-charges-1`, `${database}-charges-2`] as const,
    open: (applied = 0) => ChargeJournal.open(database, { id, run, applied }),
    /** The batches that another process finds in a copy of the files. */
    left(applied = 0) {
      const copy = join(newFolder(), 'app.db')
      for (const end of ['-charges-1', '-charges-2']) if (existsSync(database + end)) copyFileSync(database + end, copy + end)
      const { journal } = ChargeJournal.open(copy, { id, run, applied })
      const batches = journal.unapplied()
      journal.close()
      return batches
    },
  }
}

describe('the journal', () => {
  it('has every appended batch when it is opened again, in order, with texts of any characters', () => {
    const { open, left } = aJournal()
    const { journal } = open()
    const texts = ['{"a":1}', '', '中文 "quoted" \\ \u0000 \u{1f600}', 'x'.repeat(100_000)]
    expect(texts.map((text) => journal.append(text))).toEqual([1, 2, 3, 4])
    journal.close()

    expect(left()).toEqual(texts.map((text, index) => ({ number: index + 1, text })))
    expect(left(2).map(({ number }) => number)).toEqual([3, 4])
  })

  it('appends to the other file while the batches of one are applied, and forgets those when they are', () => {
    const { open, left } = aJournal()
    const { journal } = open()
    journal.append('one')
    journal.turn()
    journal.append('two')
    expect(left().map(({ text }) => text)).toEqual(['one', 'two'])
    // The other file is not free yet.
    journal.turn()
    journal.append('three')
    expect(journal.unapplied().map(({ text }) => text)).toEqual(['one', 'two', 'three'])

    journal.applied(1)
    expect(journal.unapplied().map(({ text }) => text)).toEqual(['two', 'three'])
    expect(left(1).map(({ text }) => text)).toEqual(['two', 'three'])
    journal.close()
  })

  it('takes no batch of an earlier use of a file for a new one', () => {
    const { open, left } = aJournal()
    const { journal } = open()
    // Records of equal length, so that those of the earlier use begin where those of the new one end.
    for (const text of ['a1', 'a2', 'a3']) journal.append(text)
    for (const text of ['b4', 'c5', 'd6']) {
      journal.turn()
      journal.applied(journal.append(text) - 1)
    }
    journal.close()
    expect(left(5).map(({ text }) => text)).toEqual(['d6'])
    expect(left(6)).toEqual([])
  })

  it('continues its numbers, and stays readable, when it is opened again', () => {
    const { open, left } = aJournal()
    for (let applied = 0; applied < 12; applied += 3) {
      const { journal } = open(applied)
      expect(journal.unapplied()).toEqual([])
      journal.append('x')
      journal.turn()
      expect(journal.append('y')).toBe(applied + 2)
      journal.close()
      const { journal: next } = open(applied)
      expect(next.append('z')).toBe(applied + 3)
      next.close()
      expect(left(applied).map(({ number }) => number)).toEqual([applied + 1, applied + 2, applied + 3])
    }
  })

  it('reuses its files, and truncates a large one', () => {
    const { open, paths } = aJournal()
    const { journal } = open()
    const text = 'x'.repeat(1_000_000)
    for (let laps = 0; laps < 20; laps++) {
      const count = laps === 0 ? 20 : 2
      let last = 0
      for (let batches = 0; batches < count; batches++) last = journal.append(text)
      journal.turn()
      journal.applied(last)
    }
    for (const path of paths) expect(statSync(path).size).toBeLessThan(3_000_000)
    journal.close()
  })

  it.each([
    ['deletes', (path: string) => rmSync(path)],
    ['moves', (path: string) => renameSync(path, `${path}.moved`)],
  ])('writes its batches into new files when somebody %s them', (_name, remove) => {
    const { open, left, paths } = aJournal()
    const { journal } = open()
    journal.append('one')
    journal.turn()
    journal.append('two')
    for (const path of paths) remove(path)
    journal.append('three')
    journal.close()
    expect(left().map(({ text }) => text)).toEqual(['one', 'two', 'three'])
  })

  it('overwrites a record whose sync failed, and directs no batch to the other file before', () => {
    const { open, left } = aJournal()
    const { journal } = open()
    journal.append('one')
    const { fdatasyncSync } = fs
    fs.fdatasyncSync = () => {
      throw new Error('EIO')
    }
    syncBuiltinESMExports()
    expect(() => journal.append('two')).toThrow('EIO')
    fs.fdatasyncSync = fdatasyncSync
    syncBuiltinESMExports()

    journal.turn()
    expect(journal.append('three')).toBe(2)
    expect(left().map(({ text }) => text)).toEqual(['one', 'three'])
    journal.close()
  })

  it('is not read when it was written in another format', () => {
    const { open, paths } = aJournal()
    const { journal } = open()
    journal.append('one')
    journal.close()
    const bytes = readFileSync(paths[0])
    bytes.writeUInt32LE(3, 12)
    bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4)
    writeFileSync(paths[0], bytes)
    expect(() => open()).toThrow('was written by another version')
  })
})

describe('a journal that was written in part', () => {
  it('ends before the record that is incomplete or damaged', () => {
    const { open, left, paths } = aJournal()
    const { journal } = open()
    journal.append('one')
    const end = readFileSync(paths[0]).length
    journal.append('two')
    journal.close()
    const whole = readFileSync(paths[0])
    expect(whole.length).toBeGreaterThan(end)

    for (let length = end; length < whole.length; length++) {
      truncateSync(paths[0], length)
      expect(left().map(({ text }) => text)).toEqual(['one'])
      writeFileSync(paths[0], whole)
    }
    for (let at = end; at < whole.length; at++) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      writeFileSync(paths[0], damaged)
      expect(left().map(({ text }) => text)).toEqual(['one'])
    }
    writeFileSync(paths[0], whole)
    appendFileSync(paths[0], 'anything')
    expect(left().map(({ text }) => text)).toEqual(['one', 'two'])
  })

  it('has all durable batches after any order of appends, turns, applied batches and crashes', () => {
    const { open, left } = aJournal()
    const random = randomsOf(20_261_128)
    let { journal } = open()
    let applied = 0
    let durable: { number: number; text: string }[] = []
    for (let steps = 0; steps < 3000; steps++) {
      const chance = random()
      if (chance < 0.6) {
        const text = 'x'.repeat(Math.floor(random() * 40)) + steps
        durable.push({ number: journal.append(text), text })
      } else if (chance < 0.8) journal.turn()
      else if (chance < 0.95) {
        applied += Math.floor(random() * (durable.length + 1))
        durable = durable.filter(({ number }) => number > applied)
        journal.applied(applied)
      } else journal = open(applied).journal
      expect(journal.unapplied()).toEqual(durable)
      if (steps % 50 === 0) expect(left(applied)).toEqual(durable)
    }
    journal.close()
  })
})

describe('files that do not belong to the database', () => {
  const filesIn = (folder: string) => readdirSync(folder).filter((name) => name.includes('foreign'))

  it('are set aside, and not applied, when they are those of another one', () => {
    const { database, open, paths } = aJournal()
    const { journal } = open()
    journal.append('one')
    journal.close()

    const other = ChargeJournal.open(database, { id: '0000000000000000', run, applied: 0 })
    expect(other.journal.unapplied()).toEqual([])
    expect(other.findings.foreign).toHaveLength(2)
    expect(filesIn(join(database, '..'))).toHaveLength(2)
    other.journal.close()
    expect(paths.some((path) => existsSync(path))).toBe(false)
  })

  it('are set aside when they are of a later state than the tables, as with an older copy of the database', () => {
    const { open } = aJournal()
    const { journal } = open()
    for (const text of ['one', 'two', 'three']) journal.append(text)
    journal.turn()
    journal.applied(3)
    journal.append('four')
    journal.close()

    const older = open(2)
    expect(older.findings.foreign).toHaveLength(2)
    expect(older.journal.unapplied()).toEqual([])
    expect(older.journal.append('three again')).toBe(3)
    older.journal.close()
  })
})
