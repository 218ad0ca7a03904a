import { z } from 'zod'
import { nameText } from '../name-text.ts'

/** Lists of the console whose views can be saved. */
const viewedLists = [
  'channels',
  'tokens',
  'users',
  'redemptions',
  'top-ups',
  'log',
  'orders',
  'drawings',
  'tasks',
  'videos',
  'batches',
  'files',
  'statement',
  'audit',
  'quality-checks',
  'incidents',
  'budgets',
  'members',
  'organisations',
] as const
export type ViewedList = (typeof viewedLists)[number]

export const savedViewLimits = { nameLengthMax: 40, perListMax: 30 } as const

/** The state of a list in a view, as in the list's address; absent members are the list's defaults. */
const search = z
  .record(z.string().max(40), z.string().max(300))
  .refine((values) => Object.keys(values).length <= 30, 'at most 30 values')
/** Hidden columns; null for the default of the list. */
const hidden = z.array(z.string().max(40)).max(60).nullable()

/** A named arrangement of a list: filters, sorting and columns. It belongs to an account and follows it to every browser. */
export const savedView = z.object({
  id: z.int(),
  list: z.enum(viewedLists),
  name: z.string(),
  search,
  hidden,
  /** The list opens with it. At most one view of a list. */
  is_default: z.boolean(),
})
export type SavedView = z.output<typeof savedView>

const name = z.string().transform(nameText).pipe(z.string().min(1).max(savedViewLimits.nameLengthMax))

export const savedViewInput = z.object({
  list: z.enum(viewedLists),
  name,
  search,
  hidden,
  is_default: z.boolean().default(false),
})
export type SavedViewInput = z.output<typeof savedViewInput>

/** Absent members stay unchanged. */
export const savedViewChange = savedViewInput.omit({ list: true }).partial().extend({ is_default: z.boolean().optional() })
export type SavedViewChange = z.output<typeof savedViewChange>
