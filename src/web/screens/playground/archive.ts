import { ofSite } from '../../lib/base-path.ts'
import type { Turn } from './turns.ts'

/**
 * Conversations stored in this browser's IndexedDB, because images would not fit into local storage. Heads are stored apart from
 * turns, so that the list does not load all turns. If the browser stores nothing, conversations last as long as the page.
 */

/** A conversation's entry in the list. */
export interface Head {
  readonly id: string
  readonly userId: number
  readonly title: string
  readonly updatedAtMs: number
  /** Changes with every write, so that a tab notices writes of other tabs. */
  readonly version?: string | undefined
}

export interface StoredConversation {
  readonly head: Head
  readonly turns: readonly Turn[]
}

export interface Archive {
  /** Newest first. */
  list(): Promise<readonly Head[]>
  read(id: string): Promise<StoredConversation | undefined>
  /** Applies `work` to the stored state in a transaction over all tabs. */
  change(id: string, work: (kept: StoredConversation | undefined) => StoredConversation | undefined): Promise<void>
  remove(ids: readonly string[]): Promise<void>
}

/** The oldest conversations are removed when there are more. */
export const conversationsMax = 50

const name = ofSite('playground')
const stores = ['heads', 'turns'] as const

/** Opens the conversations of one user. */
export async function openArchive(userId: number): Promise<Archive> {
  try {
    return databaseArchive(await openDatabase(), userId)
  } catch {
    return memoryArchive()
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(name, 1)
  opening.onupgradeneeded = () => {
    for (const store of stores) opening.result.createObjectStore(store)
  }
  return answerOf(opening)
}

function databaseArchive(database: IDBDatabase, userId: number): Archive {
  const within = (work: (heads: IDBObjectStore, turns: IDBObjectStore) => void): Promise<void> => {
    const transaction = database.transaction(stores, 'readwrite')
    work(transaction.objectStore('heads'), transaction.objectStore('turns'))
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
    })
  }
  const readWithin = async (
    heads: IDBObjectStore,
    turns: IDBObjectStore,
    id: string,
  ): Promise<StoredConversation | undefined> => {
    // Records of another schema version are ignored.
    const [head, kept] = (await Promise.all([answerOf(heads.get(id)), answerOf(turns.get(id))])) as [
      Head?,
      StoredConversation['turns']?,
    ]
    return head && kept && { head, turns: kept }
  }
  return {
    async list() {
      // Records of another schema version are ignored.
      const heads = (await answerOf(database.transaction('heads').objectStore('heads').getAll())) as readonly Head[]
      return newestFirst(heads.filter((head) => head.userId === userId))
    },
    read(id) {
      const transaction = database.transaction(stores)
      return readWithin(transaction.objectStore('heads'), transaction.objectStore('turns'), id)
    },
    change: (id, work) =>
      within(async (headsStore, turnsStore) => {
        const next = work(await readWithin(headsStore, turnsStore, id))
        if (!next) return
        headsStore.put(next.head, id)
        turnsStore.put(next.turns, id)
      }),
    remove: (ids) =>
      within((headsStore, turnsStore) => {
        for (const id of ids) {
          headsStore.delete(id)
          turnsStore.delete(id)
        }
      }),
  }
}

function memoryArchive(): Archive {
  const kept = new Map<string, StoredConversation>()
  return {
    list: async () => newestFirst([...kept.values()].map(({ head }) => head)),
    read: async (id) => kept.get(id),
    async change(id, work) {
      const next = work(kept.get(id))
      if (next) kept.set(id, next)
    },
    remove: async (ids) => {
      for (const id of ids) kept.delete(id)
    },
  }
}

const newestFirst = (heads: readonly Head[]): readonly Head[] =>
  heads.toSorted((one, other) => other.updatedAtMs - one.updatedAtMs)

function answerOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
