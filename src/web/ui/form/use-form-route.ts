import { useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'

/** The subject of a list's form: a new item or the one with this id. */
interface FormSubject {
  readonly id: number | undefined
}

const newOne: FormSubject = { id: undefined }

/**
 * A form at the side of a list is open while the address is that of the form, which keeps the filters and the page of the list.
 * `isAlone`: it was opened by its own address and has not been closed yet, so the list behind it need not be loaded.
 */
export function useFormRoute(base: '/channel' | '/user') {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const params: { readonly id?: string } = useParams({ strict: false })
  const staying = { search: true, resetScroll: false } as const
  const isAdding = pathname.startsWith(`${base}/add`)

  const subject = params.id === undefined ? (isAdding ? newOne : undefined) : { id: Number(params.id) }
  const [isAlone, setIsAlone] = useState(subject !== undefined)
  if (isAlone && subject === undefined) setIsAlone(false)

  return {
    subject,
    isAlone,
    add: () => void navigate({ to: `${base}/add`, ...staying }),
    edit: (id: number) => void navigate({ to: `${base}/edit/$id`, params: { id: String(id) }, ...staying }),
    /** The drawer has asked already whether anything would be lost. */
    close: () => void navigate({ to: base, ...staying, ignoreBlocker: true }),
  }
}
