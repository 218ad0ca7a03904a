import { useSyncExternalStore } from 'react'
import { ofSite } from './base-path.ts'

/**
 * One value in local storage, or in that of the tab. If storage is blocked or full, the value stays in memory for this visit. All users of the value in this
 * page and in other tabs see a change immediately.
 */
interface Stored<Value> {
  read(): Value
  /** `undefined` removes the value. */
  write(value: Value | undefined): void
  use(): Value
}

/** Storage is opened each time: a browser that blocks it throws. */
type Area = () => Storage
const ofBrowser: Area = () => localStorage
const ofTab: Area = () => sessionStorage

const memory = new Map<string, string>()
const listeners = new Set<() => void>()

function readText(key: string, area: Area): string | undefined {
  try {
    return area().getItem(ofSite(key)) ?? memory.get(key)
  } catch {
    return memory.get(key)
  }
}

function writeText(key: string, text: string | undefined, area: Area): void {
  memory.delete(key)
  try {
    if (text === undefined) area().removeItem(ofSite(key))
    else area().setItem(ofSite(key), text)
  } catch {
    if (text !== undefined) memory.set(key, text)
  }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

interface Form<Value> {
  parse(text: string): Value | undefined
  format(value: Value): string
}

function stored<Value>(key: string, fallback: Value, form: Form<Value>, area = ofBrowser): Stored<Value> {
  let lastText: string | undefined
  let lastValue = fallback

  // Returns the same object for the same text, as React requires of a snapshot.
  function read(): Value {
    const text = readText(key, area)
    if (text !== lastText) {
      lastText = text
      lastValue = text === undefined ? fallback : (parseSafely(form, text) ?? fallback)
    }
    return lastValue
  }

  return {
    read,
    write: (value) => writeText(key, value === undefined ? undefined : form.format(value), area),
    use: () => useSyncExternalStore(subscribe, read),
  }
}

function parseSafely<Value>(form: Form<Value>, text: string): Value | undefined {
  try {
    return form.parse(text)
  } catch {
    return undefined
  }
}

export const storedText = (key: string, fallback = ''): Stored<string> =>
  stored(key, fallback, { parse: (text) => text, format: (value) => value })

export const storedFlag = (key: string, fallback: boolean): Stored<boolean> =>
  stored(key, fallback, { parse: (text) => text === 'true', format: String })

type Accepts<Value> = (value: unknown) => value is Value

/** A JSON value; `accepts` guards against values of an older version or another program under the key. */
export const storedJson = <Value>(key: string, fallback: Value, accepts: Accepts<Value>): Stored<Value> =>
  stored(key, fallback, jsonOf(accepts))

/** A text and a JSON value of this tab alone, which a reload keeps. */
export const tabText = (key: string): Stored<string> =>
  stored(key, '', { parse: (text) => text, format: (value) => value }, ofTab)
export const tabJson = <Value>(key: string, fallback: Value, accepts: Accepts<Value>): Stored<Value> =>
  stored(key, fallback, jsonOf(accepts), ofTab)

function jsonOf<Value>(accepts: Accepts<Value>): Form<Value> {
  return {
    parse: (text) => {
      const value: unknown = JSON.parse(text)
      return accepts(value) ? value : undefined
    },
    format: (value) => JSON.stringify(value),
  }
}
