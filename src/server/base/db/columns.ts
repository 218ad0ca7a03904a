import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from 'kysely'

/** The column types of this schema, written in the same way for both databases. */
export type Dialect = 'sqlite' | 'postgres'

type Build = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder

export function columnsOf(dialect: Dialect) {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint'
  const required: Build = (column) => column.notNull()

  return {
    /** Row number: 64 bits, never reused. */
    id: <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
      dialect === 'sqlite'
        ? table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        : table.addColumn('id', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity()),
    /** Integers, quota units, unix seconds and flags are all 64-bit. */
    integer,
    text: 'text',
    decimal: dialect === 'sqlite' ? 'real' : 'double precision',
    required,
    zero: ((column) => column.notNull().defaultTo(0)) satisfies Build,
    one: ((column) => column.notNull().defaultTo(1)) satisfies Build,
    empty: ((column) => column.notNull().defaultTo('')) satisfies Build,
    value:
      (value: string | number): Build =>
      (column) =>
        column.notNull().defaultTo(value),
  } as const
}

/** Index names follow their columns, so that two indexes never collide. */
export function addIndex(db: Kysely<unknown>, table: string, columns: readonly string[], unique = false) {
  const named = db.schema
    .createIndex(`${table}_${columns.join('_')}`)
    .on(table)
    .columns([...columns])
  return (unique ? named.unique() : named).execute()
}
