import { useState } from 'react'
import { textOf } from '../../lib/i18n.ts'
import { toast } from '../../lib/toast.ts'
import { picturesMax, readPictures } from './pictures.ts'
import { texts } from './texts.ts'
import type { Question, Turn } from './turns.ts'

const empty: Question = { text: '', pictures: [] }

/** The question being written, and the earlier question that it replaces, if any. */
export function useDraft(first: Question = empty) {
  const [draft, setDraft] = useState<Question>(first)
  const [replaces, setReplaces] = useState('')

  async function addPictures(files: readonly File[]): Promise<void> {
    const { pictures, refused } = await readPictures(files)
    if (refused > 0) toast.warn(textOf(texts, 'pictureRefused', { count: refused }))
    if (draft.pictures.length + pictures.length > picturesMax) toast.warn(textOf(texts, 'picturesMany', { count: picturesMax }))
    // The same image is added only once.
    setDraft((before) => ({
      ...before,
      pictures: [...new Set([...before.pictures, ...pictures])].slice(0, picturesMax),
    }))
  }

  return {
    draft,
    /** The id of the turn that is being edited. */
    replaces,
    setText: (text: string) => setDraft((before) => ({ ...before, text })),
    addPictures,
    removePicture: (place: number) => setDraft((before) => ({ ...before, pictures: before.pictures.toSpliced(place, 1) })),
    edit({ id, question, pictures }: Turn): void {
      setDraft({ text: question, pictures })
      setReplaces(id)
    },
    clear(): void {
      setDraft(empty)
      setReplaces('')
    },
  }
}
