import { fail } from '../../base/lib/failure.ts'

/**
 * A name, such as that of a model, as one segment of a URL path. Throws `field_invalid` for names that consist only of dots: in any
 * encoding, they would resolve to another path.
 */
export function addressPiece(name: string): string {
  if (name === '.' || name === '..') fail('field_invalid', { field: 'model', reason: dotsAlone })
  return encodeURIComponent(name.toWellFormed())
}

/** A name with slashes, each of its parts as one segment. */
export function addressPieces(name: string): string {
  return name.split('/').map(addressPiece).join('/')
}

const dotsAlone = { zh: '路径的一段不能只有点', en: 'has a piece that is nothing but dots' }
