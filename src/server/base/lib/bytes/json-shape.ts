import { skipString } from './splice-json.ts'

/** The structure of a JSON text, found by one pass over its bytes. */
interface JsonShape {
  /** Members of the outermost object, repeated keys counted each time. */
  readonly topMembers: number
}

interface ShapeLimits {
  readonly depth: number
  /** Objects, lists and members: they determine the time and memory of a parser. */
  readonly parts: number
  /** Entries of lists and objects. */
  readonly entries: number
}

/**
 * The shape of a JSON text, or the name of the limit that it exceeds. Parsing a small text of a bad shape can block the process for
 * seconds. Does not check whether the text is valid.
 */
export function shapeOf(text: Buffer, limits: ShapeLimits): JsonShape | keyof ShapeLimits {
  let depth = 0
  let parts = 0
  let entries = 0
  let topMembers = 0

  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case 0x22:
        at = skipString(text, at) - 1
        if (at < 0) return { topMembers }
        break
      case 0x7b:
      case 0x5b:
        if (++depth > limits.depth) return 'depth'
        if (++parts > limits.parts) return 'parts'
        break
      case 0x7d:
      case 0x5d:
        depth--
        break
      case 0x3a:
        if (depth === 1) topMembers++
        if (++parts > limits.parts) return 'parts'
        break
      case 0x2c:
        if (++entries > limits.entries) return 'entries'
        break
    }
  }
  return { topMembers }
}
