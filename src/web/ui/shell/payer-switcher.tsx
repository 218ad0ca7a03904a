import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, startTransition, useEffect, useState } from 'react'
import { ApiError, call } from '../../lib/call.ts'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { rememberPayer, switchPayer, usePayer } from '../../lib/payer.ts'
import { useSession } from '../../lib/session.ts'
import { toast } from '../../lib/toast.ts'
import styles from './payer.module.css'
import { PayerButton } from './payer-button.tsx'

const texts = defineTexts({
  lost: ['你已不在该组织中，现由个人账户付款。', 'You no longer belong to the organisation. Your personal account pays now.'],
})

const load = () => import('./payer-menu.tsx')
const PayerMenu = lazy(async () => ({ default: (await load()).PayerMenu }))

/** Which account pays in this tab. It is shown to whoever belongs to an organisation; few visits open its menu, so it is loaded then. */
export function PayerSwitcher({ isBar = false }: { isBar?: boolean }) {
  const user = useSession()
  const payer = usePayer()
  const [wanted, setWanted] = useState(false)
  usePayerAsItIs()
  if (!user || (user.organisations !== 'own' && !payer)) return null
  const ahead = () => void load()
  const open = () => startTransition(() => setWanted(true))
  const switcher = (
    <Suspense>
      {wanted ? <PayerMenu /> : <PayerButton aria-haspopup="menu" onPointerEnter={ahead} onFocus={ahead} onClick={open} />}
    </Suspense>
  )
  return isBar ? <div className={styles.bar}>{switcher}</div> : switcher
}

/** Keeps name and role of the paying organisation as the server knows them, and leaves one that the user does not belong to any more. */
function usePayerAsItIs(): void {
  const say = useText(texts)
  const client = useQueryClient()
  const payer = usePayer()
  const { data } = useQuery({
    queryKey: ['payer', payer?.id],
    queryFn: ({ signal }) => find(payer?.id ?? 0, signal),
    enabled: payer !== null,
    staleTime: 60_000,
    refetchOnWindowFocus: true,
  })
  // The storage of the tab is outside of React.
  useEffect(() => {
    if (!payer || data === undefined) return
    if (data === null) {
      toast.warn(say('lost'))
      void switchPayer(client, null)
    } else if (data.id === payer.id) rememberPayer(data)
  }, [data, payer, client, say])
}

/** Null for an organisation that does not exist for the user. */
async function find(id: number, signal: AbortSignal) {
  try {
    return await call('GET /api/organisation/:id', { params: { id }, signal })
  } catch (cause) {
    if (cause instanceof ApiError && cause.code === 'not_found') return null
    throw cause
  }
}
