import type { Dialogue } from '../dialogue.ts'
import { type Block, cacheControl } from './cache-marks.ts'

/** The leading instructions, in order, followed by those that the request itself needs. Blank ones would be refused. */
export function writeSystem({ system }: Dialogue, instruction: string | undefined): Block[] {
  const blocks: Block[] = system
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, cache }) => ({ type: 'text', text, ...cacheControl(cache) }))
  return instruction === undefined ? blocks : [...blocks, { type: 'text', text: instruction }]
}
