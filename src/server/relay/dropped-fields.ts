import { AppError } from '../lib/failure.ts'
import type { Format } from '../protocols/format.ts'
import type { Work } from './relay-parts.ts'

/** Fields of a request that the form of an upstream cannot carry: named to the caller and in the log, and refused to who is strict. */
export class DroppedFields {
  readonly #names: Set<string>

  /** With what was taken out of the request before. */
  constructor({ leftOut }: Pick<Work, 'leftOut'>) {
    this.#names = new Set(leftOut)
  }

  readonly lose = (field: string): void => {
    this.#names.add(plainName(field))
  }

  /** Throws `untranslatable` when something was lost and the token allows nothing to be lost. */
  requireAllowed({ caller }: Work): void {
    if (caller.isStrict && this.#names.size > 0) throw strictlyRefused([...this.#names])
  }

  note(work: Work, format: Format, hostedTools: readonly string[]): void {
    const dropped = [...this.#names].sort().slice(0, keptMax)
    work.translation = { format, dropped, hostedTools }
    tellDropped(work, dropped)
  }
}

/** Names to the caller what the upstream does not get. */
export function tellDropped({ call }: Pick<Work, 'call'>, names: readonly string[]): void {
  call.tell('x-sluice-dropped', names.slice(0, shownMax).join(', '))
}

/** What a token is told that allows nothing to be lost. */
export function strictlyRefused(names: readonly string[]): AppError {
  return new AppError('untranslatable', { field: names.join(', '), reason: strictly })
}

const strictly = {
  zh: '该令牌不允许在协议转换中丢弃内容',
  en: 'the token allows nothing to be lost when a request is carried to another protocol',
}

/** Callers name their fields as they like; what stands in a header and in the log is short and plain. */
function plainName(field: string): string {
  return field.slice(0, 64).replace(/[^\x21-\x2b\x2d-\x7e]/g, '?')
}

const shownMax = 40
const keptMax = 200
