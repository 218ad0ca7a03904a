import { execFileSync } from 'node:child_process'
import fs, {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { newFolder } from '../../../../../test/helpers/templates.ts'
import { ChargeJournal } from './charge-journal.ts'
import { noRun, scanRecords } from './journal-record.ts'
import { type JournalPosition, readJournal } from './read-journal.ts'

const position: JournalPosition = { id: 'a1b2c3d4e5f60718', run: '1122334455667788', applied: 2 }
const ends = ['-charges-1', '-charges-2'] as const

interface Slot {
  readonly file: 0 | 1
  readonly start: number
  readonly end: number
  readonly number: number
  readonly text: string
}

/** The bytes of both files of a journal whose last batch in the tables is 2: 3 to 5 in one file behind it, 6 to 8 in the other. */
function smallJournal() {
  const database = join(newFolder(), 'app.db')
  const { journal } = ChargeJournal.open(database, { ...position, applied: 0 })
  journal.append('batch 1')
  journal.turn()
  journal.applied(1)
  journal.append('batch 2')
  for (const number of [3, 4, 5]) journal.append(`batch ${number}`)
  journal.applied(2)
  // The mark of what is applied is still behind the last record here, and is overwritten by none.
  journal.turn()
  for (const number of [6, 7, 8]) journal.append(`batch ${number}`)
  const files = ends.map((end) => readFileSync(database + end)) as [Buffer, Buffer]
  journal.close()
  const slots = files.flatMap((bytes, file): Slot[] => {
    return scanRecords('', bytes)
      .records.filter(({ number }) => number > position.applied)
      .map(({ number, text, end }) => ({ file: file as 0 | 1, start: end - text.length - 48, end, number, text }))
  })
  expect(slots.map(({ number }) => number).sort()).toEqual([3, 4, 5, 6, 7, 8])
  expect(new Set(slots.map(({ file }) => file)).size).toBe(2)
  return { files, slots }
}

/** Puts the bytes of a journal beside a database that has the first two batches. */
function aJournalOf(files: readonly (Buffer | undefined)[], at: Partial<JournalPosition> = {}) {
  const database = join(newFolder(), 'app.db')
  const paths = ends.map((end) => database + end) as [string, string]
  for (const [index, path] of paths.entries()) if (files[index]) writeFileSync(path, files[index])
  const asides = () => readdirSync(dirname(database)).filter((name) => /-(foreign|damaged)-/.test(name))
  return { database, paths, asides, open: () => ChargeJournal.open(database, { ...position, ...at }) }
}

const textsOf = (batches: readonly { text: string }[]) => batches.map(({ text }) => text)

function flipped(bytes: Buffer, at: number, mask = 1): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ mask
  return copy
}

function withFile(files: readonly [Buffer, Buffer], file: 0 | 1, bytes: Buffer): [Buffer, Buffer] {
  return file === 0 ? [bytes, files[1]] : [files[0], bytes]
}

/** What a start finds, without opening the files. */
function read(database: string, files: readonly [Buffer, Buffer]) {
  for (const [index, end] of ends.entries()) writeFileSync(database + end, files[index] ?? '')
  const found = readJournal(database, position)
  const batches = found.files.flatMap((file) => file.batches).sort((one, other) => one.number - other.number)
  return { ...found, batches, isLoud: found.files.some(({ reason }) => reason === 'damaged') }
}

describe('a small journal in two files', () => {
  it('loses no valid batch by one flipped bit, and tells it, whichever bit of both files it is', () => {
    const { files, slots } = smallJournal()
    const database = join(newFolder(), 'app.db')
    expect(read(database, files)).toMatchObject({ isLoud: false, isTorn: false, missing: 0 })
    let bits = 0
    for (const file of [0, 1] as const)
      for (let at = 0; at < files[file].length; at++)
        for (let bit = 0; bit < 8; bit++) {
          bits++
          const hit = slots.find((slot) => slot.file === file && slot.start <= at && at < slot.end)
          const found = read(database, withFile(files, file, flipped(files[file], at, 1 << bit)))
          const where = `file ${file}, byte ${at}, bit ${bit}, batch ${hit?.number}`
          expect(textsOf(found.batches), where).toEqual(
            slots
              .filter((slot) => slot !== hit)
              .map(({ text }) => text)
              .sort(),
          )
          if (hit) expect(found.isLoud || (found.isTorn && hit.number === 8), where).toBe(true)
          if (hit && hit.number < 8) expect([found.isLoud, found.missing], where).toEqual([true, 1])
        }
    expect(bits).toBeGreaterThan(3000)
  }, 120_000)

  it('has every whole record when a file is cut at any byte, and tells it unless the cut is between the last records', () => {
    const { files, slots } = smallJournal()
    const database = join(newFolder(), 'app.db')
    for (const file of [0, 1] as const)
      for (let length = 0; length < files[file].length; length++) {
        const found = read(database, withFile(files, file, files[file].subarray(0, length)))
        const lost = slots.filter((slot) => slot.file === file && slot.end > length)
        const where = `file ${file} with ${length} bytes`
        expect(textsOf(found.batches), where).toEqual(
          slots
            .filter((slot) => !lost.includes(slot))
            .map(({ text }) => text)
            .sort(),
        )
        const isTail = lost.every(({ number }) => number > (found.batches.at(-1)?.number ?? 0))
        if (!isTail) expect(found.isLoud, where).toBe(true)
        const isInside = lost.some(({ start }) => length >= start + 4)
        if (isTail && isInside) expect(found.isTorn || found.isLoud, where).toBe(true)
        if (lost.length === 0 && length >= 4) expect(found.isLoud, where).toBe(false)
      }
  }, 120_000)

  it('loses no valid batch by flipped bits in two records at once', () => {
    const { files, slots } = smallJournal()
    const database = join(newFolder(), 'app.db')
    for (const one of slots)
      for (const other of slots) {
        if (one.number >= other.number) continue
        const first = withFile(files, one.file, flipped(files[one.file], one.start + 50))
        const found = read(database, withFile(first, other.file, flipped(first[other.file], other.start + 9)))
        expect(textsOf(found.batches)).toEqual(
          slots
            .filter((slot) => slot !== one && slot !== other)
            .map(({ text }) => text)
            .sort(),
        )
        expect(found.isLoud || found.isTorn).toBe(true)
        if (one.number < 7) expect(found.isLoud).toBe(true)
      }
  })

  it.each([
    ['of 2^31', (bytes: Buffer, at: number) => bytes.writeUInt32LE(2 ** 31, at)],
    ['of 2^32 - 1', (bytes: Buffer, at: number) => bytes.writeUInt32LE(2 ** 32 - 1, at)],
    ['of 0', (bytes: Buffer, at: number) => bytes.writeUInt32LE(0, at)],
    ['that reaches into the next record', (bytes: Buffer, at: number) => bytes.writeUInt32LE(30, at)],
  ])('has the batches behind a length %s', (_name, write) => {
    const { files, slots } = smallJournal()
    const database = join(newFolder(), 'app.db')
    for (const slot of slots) {
      const bytes = Buffer.from(files[slot.file])
      write(bytes, slot.start + 8)
      const found = read(database, withFile(files, slot.file, bytes))
      expect(found.batches.map(({ number }) => number)).toEqual([3, 4, 5, 6, 7, 8].filter((number) => number !== slot.number))
      expect(found.isLoud || found.isTorn).toBe(true)
    }
  })

  it('has the batches around garbage, also when it looks like a record, and each once when a record is repeated', () => {
    const { files, slots } = smallJournal()
    const database = join(newFolder(), 'app.db')
    for (const { file, start, end } of slots) {
      const [before, record, after] = [
        files[file].subarray(0, start),
        files[file].subarray(start, end),
        files[file].subarray(end),
      ]
      const inserted = read(
        database,
        withFile(files, file, Buffer.concat([before, Buffer.from('JGDL and more JGDL'), record, after])),
      )
      expect(inserted).toMatchObject({ missing: 0, batches: { length: 6 } })
      const repeated = read(database, withFile(files, file, Buffer.concat([before, record, record, after])))
      expect(repeated.isLoud).toBe(true)
      expect(new Set(textsOf(repeated.batches)).size).toBe(6)
      const overwritten = Buffer.from(files[file])
      overwritten.fill('garbage', start, end)
      const without = read(database, withFile(files, file, overwritten))
      expect(without.batches).toHaveLength(5)
      expect(without.isLoud || without.batches.at(-1)?.number === 7).toBe(true)
    }
  })

  it.each([
    ['garbage', Buffer.from('x'.repeat(500))],
    ['zeros', Buffer.alloc(500)],
    ['nothing', Buffer.alloc(0)],
  ])('tells that a file has %s in place of its records', (_name, bytes) => {
    const { files } = smallJournal()
    for (const file of [0, 1] as const) {
      const stage = aJournalOf(withFile(files, file, bytes))
      const { journal, findings } = stage.open()
      expect(findings.damaged.length).toBeGreaterThan(0)
      expect(journal.unapplied()).toHaveLength(3)
      journal.close()
    }
  })

  it('is the same journal when its two files are swapped', () => {
    const { files } = smallJournal()
    const { journal, findings } = aJournalOf([files[1], files[0]]).open()
    expect(findings).toEqual({ foreign: [], damaged: [], missing: 0, isTorn: false })
    expect(journal.unapplied().map(({ number }) => number)).toEqual([3, 4, 5, 6, 7, 8])
    expect(journal.append('batch 9')).toBe(9)
    journal.close()
  })
})

describe('a damaged file', () => {
  it('is set aside as it was, for its owner alone, and its batches go on from a new one', () => {
    const { files, slots } = smallJournal()
    const slot = slots.find(({ number }) => number === 4) as Slot
    const damaged = flipped(files[slot.file], slot.start + 3)
    const stage = aJournalOf(withFile(files, slot.file, damaged))
    const { journal, findings } = stage.open()
    expect(findings).toMatchObject({ foreign: [], missing: 1, isTorn: false })
    expect(journal.unapplied().map(({ number }) => number)).toEqual([3, 5, 6, 7, 8])

    // A process that dies before they are applied leaves all that the next one needs, and no third copy.
    journal.close()
    const again = stage.open()
    expect(again.findings).toEqual(findings)
    again.journal.applied(8)
    again.journal.repair()
    expect(again.journal.append('batch 9')).toBe(9)
    again.journal.close()

    const kept = findings.damaged.find((path) => basename(path).startsWith(`app.db${ends[slot.file]}-damaged-`)) ?? ''
    expect(readFileSync(kept).subarray(0, damaged.length).equals(damaged)).toBe(true)
    for (const path of findings.damaged) expect(statSync(path).mode & 0o777).toBe(0o600)
    const after = ChargeJournal.open(stage.database, { ...position, applied: 8 })
    expect(after.findings).toEqual({ foreign: [], damaged: [], missing: 0, isTorn: false })
    expect(textsOf(after.journal.unapplied())).toEqual(['batch 9'])
    after.journal.close()
  })

  it('keeps a charge that the tables refuse, although it is replaced', () => {
    const { files, slots } = smallJournal()
    const slot = slots.find(({ number }) => number === 7) as Slot
    const stage = aJournalOf(withFile(files, slot.file, flipped(files[slot.file], slot.start + 8)))
    const { journal } = stage.open()
    expect(journal.append('refused')).toBe(9)
    journal.applied(8)
    journal.repair()
    journal.close()
    const after = ChargeJournal.open(stage.database, { ...position, applied: 8 })
    expect(after.journal.unapplied()).toEqual([{ number: 9, text: 'refused' }])
    after.journal.close()
  })

  it('never overwrites one that was set aside in the same millisecond', () => {
    for (let count = 0; count < 20; count++) {
      const stage = aJournalOf([Buffer.from('garbage'), Buffer.from('garbage')])
      stage.open().journal.close()
      for (const path of stage.paths) writeFileSync(path, 'garbage')
      stage.open().journal.close()
      expect(stage.asides()).toHaveLength(4)
    }
  })
})

describe('something else with the name of a file', () => {
  it.each([
    ['a symlink', (path: string, elsewhere: string) => symlinkSync(elsewhere, path)],
    ['a symlink to nothing', (path: string, elsewhere: string) => symlinkSync(`${elsewhere}-absent`, path)],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
  ])('%s is set aside and not followed', (_name, put) => {
    const { files } = smallJournal()
    for (const file of [0, 1] as const) {
      const stage = aJournalOf(file === 0 ? [undefined, files[1]] : [files[0], undefined])
      const elsewhere = join(newFolder(), 'elsewhere')
      writeFileSync(elsewhere, files[file])
      put(stage.paths[file], elsewhere)
      const { journal, findings } = stage.open()
      expect(findings.damaged.length).toBeGreaterThan(0)
      expect(journal.unapplied()).toHaveLength(3)
      journal.applied(8)
      journal.repair()
      journal.append('batch 9')
      expect(readFileSync(elsewhere).equals(files[file])).toBe(true)
      expect(existsSync(`${elsewhere}-absent`)).toBe(false)
      for (const path of stage.paths) expect(lstatSync(path).isFile()).toBe(true)
      journal.close()
    }
  })

  it('while the journal is open is not followed either: a file is set aside, anything else makes the append fail', () => {
    const stage = aJournalOf([])
    const { journal } = stage.open()
    expect(journal.append('one')).toBe(3)
    const elsewhere = join(newFolder(), 'elsewhere')
    writeFileSync(elsewhere, 'untouched')
    rmSync(stage.paths[0])
    symlinkSync(elsewhere, stage.paths[0])
    expect(() => journal.append('two')).toThrow('is not a regular file')
    rmSync(stage.paths[0])
    copyFileSync(elsewhere, stage.paths[0])
    expect(journal.append('two')).toBe(4)
    expect(readFileSync(elsewhere, 'utf8')).toBe('untouched')
    expect(stage.asides().map((name) => readFileSync(join(dirname(stage.database), name), 'utf8'))).toEqual(['untouched'])
    journal.close()
  })
})

it('a journal that cannot be read refuses the start, and names the file', () => {
  const { files } = smallJournal()
  const stage = aJournalOf(files)
  const { readFileSync } = fs
  fs.readFileSync = (() => {
    throw new Error('EIO: i/o error, read')
  }) as typeof readFileSync
  syncBuiltinESMExports()
  try {
    expect(() => stage.open()).toThrow(`${stage.paths[0]} cannot be read: EIO`)
  } finally {
    fs.readFileSync = readFileSync
    syncBuiltinESMExports()
  }
  expect(stage.asides()).toEqual([])
  const { journal } = stage.open()
  expect(journal.unapplied()).toHaveLength(6)
  journal.close()
})

describe('a batch is applied only to the state that it was made for', () => {
  it('a file of another database is set aside, and the other file is applied', () => {
    const { files } = smallJournal()
    const other = join(newFolder(), 'app.db')
    const { journal: ofOther } = ChargeJournal.open(other, { ...position, id: '0000000000000000', applied: 0 })
    ofOther.append('of another')
    const foreign = readFileSync(other + ends[0])
    ofOther.close()
    for (const file of [0, 1] as const) {
      const { journal, findings } = aJournalOf(withFile(files, file, foreign)).open()
      expect(findings.foreign).toHaveLength(1)
      expect(journal.unapplied()).toHaveLength(3)
      journal.close()
    }
  })

  it('an older copy adopts nothing, however many batches there have been since', () => {
    for (let since = 1; since <= 5; since++) {
      const database = join(newFolder(), 'app.db')
      const { journal } = ChargeJournal.open(database, position)
      for (let count = 1; count <= since; count++) {
        journal.append(`since ${count}`)
        journal.turn()
        journal.applied(position.applied + count)
      }
      journal.append('not applied')
      const older = aJournalOf(ends.map((end) => readFileSync(database + end)))
      journal.close()
      const { journal: ofCopy, findings } = older.open()
      expect([since, findings.foreign.length, ofCopy.unapplied()]).toEqual([since, 2, []])
      ofCopy.close()
    }
  })

  it('an older copy adopts nothing when the last batch was applied, and when the server has started again since', () => {
    const database = join(newFolder(), 'app.db')
    const { journal } = ChargeJournal.open(database, position)
    journal.append('applied')
    journal.applied(3)
    const older = aJournalOf(ends.map((end) => readFileSync(database + end)))
    journal.close()
    expect(older.open().findings.foreign).toHaveLength(2)

    const started = aJournalOf([])
    const { journal: ofLaterRun } = started.open()
    ofLaterRun.begin('9999999999999999')
    ofLaterRun.append('of the later run')
    const { findings, journal: ofCopy } = aJournalOf(started.paths.map((path) => readFileSync(path))).open()
    expect([findings.foreign.length, ofCopy.unapplied()]).toEqual([2, []])
    ofCopy.close()
    ofLaterRun.close()
  })

  it('batches in the format before, which had no run, are read once after the upgrade, also around damage', () => {
    const inFormat1 = (number: number) => {
      const text = `batch ${number}`
      const record = Buffer.alloc(32 + text.length)
      record.write('JGDL', 0)
      record.writeUInt32LE(text.length, 8)
      record.writeUInt32LE(1, 12)
      record.write(position.id, 16, 'hex')
      record.writeBigUInt64LE(BigInt(number), 24)
      record.write(text, 32)
      record.writeUInt32LE(crc32(record.subarray(8)), 4)
      return record
    }
    const bytes = Buffer.concat([1, 2, 3, 4, 5].map(inFormat1))
    const stage = aJournalOf([bytes, Buffer.alloc(0)], { run: noRun })
    const { journal, findings } = stage.open()
    expect(findings).toEqual({ foreign: [], damaged: [], missing: 0, isTorn: false })
    expect(textsOf(journal.unapplied())).toEqual(['batch 3', 'batch 4', 'batch 5'])
    journal.close()

    const damaged = aJournalOf([flipped(bytes, 3 * 39 + 33), Buffer.alloc(0)], { run: noRun }).open()
    expect(damaged.findings).toMatchObject({ missing: 1 })
    expect(textsOf(damaged.journal.unapplied())).toEqual(['batch 3', 'batch 5'])
    damaged.journal.close()

    const later = aJournalOf([bytes, Buffer.alloc(0)]).open()
    expect(later.findings.foreign).toHaveLength(2)
    later.journal.close()
  })
})
