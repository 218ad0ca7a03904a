// Faults that are put into the code on purpose, each of which must fail a test of `npm test`: see scripts/mutations.mjs.

/**
 * @typedef {object} Mutation
 * @property {string} name The resulting fault of charges or holds.
 * @property {string} file Path from the root.
 * @property {string} from Text that occurs exactly once.
 * @property {string} to Its replacement; the types stay valid.
 * @property {readonly string[]} tests Files of the short run, at least one of which must fail.
 */

const ledgerTests = ['src/server/wallet/ledger.test.ts']

/** @type {readonly Mutation[]} */
export const mutations = [
  {
    name: 'a hold is not taken (SQLite)',
    file: 'src/server/wallet/balances.ts',
    from: 'user.held += amount',
    to: 'user.held += 0 * amount',
    tests: ledgerTests,
  },
  {
    name: 'a hold is not taken (PostgreSQL)',
    file: 'src/server/wallet/postgres-statements.ts',
    from: `update users set held = held + s.amount`,
    to: `update users set held = held + 0 * s.amount`,
    tests: ledgerTests,
  },
  {
    name: 'a hold of the token is not taken (SQLite)',
    file: 'src/server/wallet/balances.ts',
    from: 'token.held += amount',
    to: 'token.held += 0 * amount',
    tests: ledgerTests,
  },
  {
    name: 'a hold is halved',
    file: 'src/server/relay/admission/reserve.ts',
    from: 'tokenId: caller.tokenId, ...wanted, budgets }',
    to: 'tokenId: caller.tokenId, ...wanted, amount: Math.floor(wanted.amount / 2), budgets }',
    tests: ['test/relay/hold-shapes.test.ts'],
  },
  {
    name: 'the output limit is not multiplied by n',
    file: 'src/server/protocols/openai-chat/chat.ts',
    from: 'perChoice === 0 ? undefined : perChoice * choices',
    to: 'perChoice === 0 ? undefined : perChoice',
    tests: ['test/relay/hold-shapes.test.ts'],
  },
  {
    name: 'a charge is settled twice (SQLite)',
    file: 'src/server/wallet/sqlite-commit.ts',
    from: `row: "('charge:' || ?, ?, ?, -?, ?, 'charge')"`,
    to: `row: "('charge:' || hex(randomblob(8)) || ?, ?, ?, -?, ?, 'charge')"`,
    tests: ledgerTests,
  },
  {
    name: 'a charge is settled twice (PostgreSQL)',
    file: 'src/server/wallet/postgres-statements.ts',
    from: `select g.* from given g join added a on a.reference = 'charge:' || g.request_id`,
    to: 'select g.* from given g',
    tests: ledgerTests,
  },
  {
    name: 'a cost is rounded down',
    file: 'src/contract/decimal.ts',
    from: '(digits + unit - 1n) / unit',
    to: 'digits / unit',
    tests: ['src/server/pricing/quote.test.ts'],
  },
  {
    name: "the ratio of the caller's group is ignored",
    file: 'src/server/pricing/quote.ts',
    from: 'input: product(modelRatio, groupRatio),',
    to: 'input: product(modelRatio),',
    tests: ['src/server/pricing/quote.test.ts'],
  },
  {
    name: 'the references of the ledger are not unique',
    file: 'src/server/db/migrations/0001-start.ts',
    from: "addIndex(db, 'ledger', ['reference'], true)",
    to: "addIndex(db, 'ledger', ['reference'])",
    tests: ledgerTests,
  },
  {
    name: 'a charge is refunded twice',
    file: 'src/server/wallet/refund.ts',
    from: 'reference: `refund:',
    to: 'reference: Math.random() + `refund:',
    tests: ['src/server/tasks', 'src/server/wallet'],
  },
  {
    name: 'a code is redeemed twice',
    file: 'src/server/wallet/redeem.ts',
    from: ".where('status', '=', redemptionStatus.unused)\n      .where('deleted_at'",
    to: ".where('deleted_at'",
    tests: ['src/server/wallet/redeem.test.ts'],
  },
  {
    name: 'a release keeps what it held',
    file: 'src/server/wallet/grouped-ledger.ts',
    from: 'this.#store.end(open.hold, { freed: open.hold.amount, charged: 0 })',
    to: 'this.#store.end(open.hold, { freed: 0, charged: 0 })',
    tests: ledgerTests,
  },
  {
    name: 'an account may spend what is charged and not written yet',
    file: 'src/server/wallet/balances.ts',
    from: 'return quota - held - pending',
    to: 'return quota - held - 0 * pending',
    tests: ledgerTests,
  },
  {
    name: 'a start ignores the charges in the journal',
    file: 'src/server/wallet/read-journal.ts',
    from: 'id === position.id && number > position.applied',
    to: 'id === position.id && number > position.applied + 1e15',
    tests: ['src/server/wallet/journal-damage.test.ts'],
  },
  {
    name: 'the charges behind a damaged record of the journal are dropped',
    file: 'src/server/wallet/journal-record.ts',
    from: 'at = bytes.indexOf(markBytes, at + 1)',
    to: 'at = -1',
    tests: ['src/server/wallet/journal-damage.test.ts'],
  },
  {
    name: 'charges are missing from a damaged journal, and nobody is told',
    file: 'src/server/wallet/read-journal.ts',
    from: "missing > 0 || numbers.size < left.length ? 'damaged' : undefined",
    to: "missing > 1e15 || numbers.size < left.length ? 'damaged' : undefined",
    tests: ['src/server/wallet/journal-damage.test.ts'],
  },
  {
    name: 'an older copy of the database adopts charges of a later state',
    file: 'src/server/wallet/read-journal.ts',
    from: 'return base > position.applied ||',
    to: 'return base > position.applied + 1e15 ||',
    tests: ['src/server/wallet/journal-damage.test.ts'],
  },
  {
    name: 'a journal file is overwritten before its charges are in the tables',
    file: 'src/server/wallet/charge-journal.ts',
    from: 'if (this.#other.batches.length > 0 || this.#isTorn) return',
    to: 'if (this.#isTorn) return',
    tests: ['src/server/wallet/charge-journal.test.ts'],
  },
  {
    name: 'the position of the journal is not recorded',
    file: 'src/server/wallet/sqlite-commit.ts',
    from: 'if (applied !== undefined) setApplied.run(applied)',
    to: 'if (applied === -1) setApplied.run(applied)',
    tests: ['src/server/wallet/journalled-charges.test.ts'],
  },
  {
    name: 'an idle account ignores a change of its balance',
    file: 'src/server/wallet/balances.ts',
    from: 'if (!account) return\n    this.#stale.add(account)',
    to: 'if (!account || isIdle(account)) return\n    this.#stale.add(account)',
    tests: ['src/server/wallet/conservation.test.ts'],
  },
  {
    name: 'a transcription of a realtime session is charged beyond its hold',
    file: 'src/server/relay/realtime/charges.ts',
    from: 'plausibleEnding(ending, held?.bound)',
    to: 'plausibleEnding(ending, undefined)',
    tests: ['test/relay/realtime.test.ts'],
  },
]
