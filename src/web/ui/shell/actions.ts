import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { forgetUser } from '../../lib/session.ts'
import { toast } from '../../lib/toast.ts'
import { texts } from './texts.ts'

/** Global actions; the menus and the palette both offer them. */

export const schemes = [
  { value: 'light', label: 'themeLight', Icon: IconSun },
  { value: 'dark', label: 'themeDark', Icon: IconMoon },
  { value: 'auto', label: 'themeAuto', Icon: IconDeviceDesktop },
] as const

/** Ends the session on the server and here, even if the server fails. */
export function useLogOut(): () => Promise<void> {
  const say = useText(texts)
  const navigate = useNavigate()
  const client = useQueryClient()
  return async () => {
    await call('POST /api/user/logout').catch(() => null)
    forgetUser()
    client.clear()
    toast.success(say('loggedOut'))
    await navigate({ to: '/login' })
  }
}
