import { availableParallelism } from 'node:os'
import { expect, it } from 'vitest'
import { Passwords, requireGoodPassword } from './passwords.ts'
import { readUsername, usernameKey } from './usernames.ts'

const codeOf = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
  return undefined
}

it('accepts only the right password, with its own salt for each hash', async () => {
  const passwords = new Passwords()
  const [one, two] = await Promise.all([passwords.hash('correct horse 7'), passwords.hash('correct horse 7')])
  expect(one).not.toBe(two)
  expect(await passwords.verify('correct horse 7', one)).toBe(true)
  expect(await passwords.verify('ｃorrect horse 7', one)).toBe(true)
  for (const wrong of ['correct horse', 'Correct horse 7', '', one]) expect(await passwords.verify(wrong, one)).toBe(false)
  for (const stored of [undefined, '', '$2b$10$abcdefghijklmnopqrstuv', 'plain']) {
    expect(await passwords.verify('plain', stored)).toBe(false)
  }
})

/** Of `correct horse 7`, cost 10, as Go's bcrypt writes it; the second is the test vector of the OpenBSD library. */
const imported = '$2a$10$FArSwKYtIWg4l5SL5kER3eT3J4Ojb9BU6Cc1lv7GmC7baA5gj0ie6'
const vector = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'

it('verifies the right password of an imported bcrypt hash, and reports the hash as outdated', async () => {
  const passwords = new Passwords()
  expect(await passwords.verify('U*U', vector)).toBe(true)
  expect(await passwords.verify('u*u', vector)).toBe(false)
  for (const prefix of ['$2a$', '$2b$', '$2y$']) {
    const stored = imported.replace('$2a$', prefix)
    expect(await passwords.verify('correct horse 7', stored)).toBe(true)
    // Only the hashes of this program are of folded passwords.
    for (const wrong of ['ｃorrect horse 7', '', stored]) expect(await passwords.verify(wrong, stored)).toBe(false)
  }
  expect(passwords.isOutdated(imported)).toBe(true)
  expect(await passwords.verify('correct horse 7', imported.replace('$10$', '$31$'))).toBe(false)
})

it('returns the same results while imported hashes make it do the work of both kinds', async () => {
  const passwords = new Passwords()
  const own = await passwords.hash('correct horse 7')
  for (const cost of [0, 3, 5, 4]) {
    passwords.expectImported(cost)
    expect(await passwords.verify('correct horse 7', own)).toBe(true)
    expect(await passwords.verify('U*U', own)).toBe(false)
    expect(await passwords.verify('U*U', vector)).toBe(true)
    expect(await passwords.verify('correct horse 7', vector)).toBe(false)
    expect(await passwords.verify('U*U', undefined)).toBe(false)
  }
})

it('[T025] limits parallel hashing so that a core stays free, and refuses callers when the queue is full', async () => {
  const passwords = new Passwords()
  const most = Math.max(1, availableParallelism() - 1)
  let [running, seen] = [0, 0]
  const work = async () => {
    seen = Math.max(seen, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
  }
  const outcomes = await Promise.allSettled(Array.from({ length: most + 50 + 7 }, () => passwords.withPermit(work)))
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(refused.map(({ reason }) => [reason.code, reason.params])).toEqual(Array(7).fill(['too_many_requests', { seconds: 1 }]))
  expect(seen).toBe(most)
  expect(await passwords.hash('correct horse 7')).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
})

it.each([
  ['1234567', 'password_length'],
  ['a1'.repeat(11), 'password_length'],
  ['💧💧💧💧💧💧💧', 'password_length'],
  ['💧💧💧💧💧💧💧💧', undefined],
  ['12345678', 'password_weak'],
  ['PassWord123', 'password_weak'],
  ['ｐassword123', 'password_weak'],
  ['Ada Lovelace', 'password_weak'],
  ['correct horse 7', undefined],
])('checks the password %s: %s', (password, code) => {
  expect(codeOf(() => requireGoodPassword(password, 'ada lovelace'))).toBe(code)
})

it.each([
  ['', 'username_length'],
  ['   ', 'username_length'],
  ['thirteen-long', 'username_length'],
  ['💧'.repeat(12), undefined],
  ['💧'.repeat(13), 'username_length'],
  ['a@b', 'username_characters'],
  ['a＠b', 'username_characters'],
  ['a\u0000b', 'username_characters'],
  ['a\u200bb', 'username_characters'],
  ['a\u202eb', 'username_characters'],
  ['a\ufeffb', 'username_characters'],
  ['a\ud800b', 'username_characters'],
  ['a\u3164b', 'username_characters'],
  ['王小明', undefined],
  [' ada ', undefined],
])('checks the name %j: %s', (name, code) => {
  expect(codeOf(() => readUsername(name))).toBe(code)
})

it('ignores case, width and composition in names', () => {
  const names = ['Ångström', 'ångström', 'A\u030angstro\u0308m', 'Ａ\u030angström ']
  expect(new Set(names.map(usernameKey)).size).toBe(1)
})
