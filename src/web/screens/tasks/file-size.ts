import { units } from '../../../contract/units.ts'
import { formatCount } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { inLargerUnits } from '../../lib/measures.ts'
import { texts } from './texts.ts'

/** Writes a number of bytes in the unit in which people read it. */
export function useFileSize(): (bytes: number) => string {
  const say = useText(texts)
  const local = useLocal()
  return (bytes) => inLargerUnits(bytes, units.bytes, local) ?? say('bytes', { count: formatCount(bytes) })
}
