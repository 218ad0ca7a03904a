import { useLocation, useNavigate, useParams } from '@tanstack/react-router'

/** What the form at the side is about: a new user or the one with this id. */
export interface DrawerSubject {
  readonly id: number | undefined
}

/** The form is open while the address is that of a form; filters and page stay in it. */
export function useUserDrawer() {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const params: { readonly id?: string } = useParams({ strict: false })
  const staying = { search: true, resetScroll: false } as const
  const subject = params.id !== undefined ? { id: Number(params.id) } : pathname.startsWith('/user/add') ? newUser : undefined

  return {
    subject,
    add: () => void navigate({ to: '/user/add', ...staying }),
    edit: (id: number) => void navigate({ to: '/user/edit/$id', params: { id: String(id) }, ...staying }),
    /** The drawer has asked already whether anything would be lost. */
    close: () => void navigate({ to: '/user', ...staying, ignoreBlocker: true }),
  }
}

const newUser: DrawerSubject = { id: undefined }
