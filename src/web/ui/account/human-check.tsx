import { useComputedColorScheme } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { HumanAction } from '../../../contract/human-check.ts'
import { defineTexts, textOf, useConsoleLanguage } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import styles from './human-check.module.css'

const texts = defineTexts({
  wait: ['请稍后几秒重试，Turnstile 正在检查用户环境！', 'Retry in a few seconds, Turnstile is checking'],
})

export interface HumanCheck {
  /** The widget of the check; null when the site requires none. */
  readonly widget: ReactNode
  /** The token for one call, '' when none is required. Undefined, with a message, until the check is done. */
  take(): string | undefined
}

/** The human check of a form that anyone can send. Each token is valid once, so that taking one starts the next check. */
export function useHumanCheck(action: HumanAction): HumanCheck {
  const { turnstile_check: wanted, turnstile_site_key: siteKey } = useStatus()
  const [token, setToken] = useState('')
  const [broken, setBroken] = useState(false)
  const [round, setRound] = useState(0)

  return {
    widget: wanted && siteKey !== '' && (
      <Widget key={round} siteKey={siteKey} action={action} onToken={setToken} onBroken={() => setBroken(true)} />
    ),
    take() {
      // If the check cannot be loaded, the server decides: it accepts the super admin.
      if (!wanted || broken) return ''
      if (token === '') {
        toast.info(textOf(texts, 'wait'))
        return undefined
      }
      setToken('')
      setRound(round + 1)
      return token
    },
  }
}

interface WidgetProps {
  readonly siteKey: string
  readonly action: HumanAction
  readonly onToken: (token: string) => void
  readonly onBroken: () => void
}

function Widget({ siteKey, action, onToken, onBroken }: WidgetProps) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useComputedColorScheme('light')
  const { locale } = useConsoleLanguage()
  const report = useRef({ onToken, onBroken })

  // Outside of React: the vendor's script draws into the place.
  useEffect(() => {
    let remove: (() => void) | undefined
    let gone = false
    loadTurnstile().then(
      (turnstile) => {
        if (gone || !place.current) return
        const id = turnstile.render(place.current, {
          sitekey: siteKey,
          action,
          theme,
          language: locale.toLowerCase(),
          callback: (token) => report.current.onToken(token),
          'expired-callback': () => report.current.onToken(''),
        })
        remove = () => turnstile.remove(id)
      },
      () => report.current.onBroken(),
    )
    return () => {
      gone = true
      remove?.()
    }
  }, [siteKey, action, theme, locale])

  return <div ref={place} className={styles.check} />
}

/** https://developers.cloudflare.com/turnstile/get-started/client-side-rendering, November 2025. */
interface Turnstile {
  render(
    place: HTMLElement,
    settings: {
      sitekey: string
      action: string
      theme: 'light' | 'dark'
      language: string
      callback: (token: string) => void
      'expired-callback': () => void
    },
  ): string
  remove(id: string): void
}

const script = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'
let loading: Promise<Turnstile> | undefined

function loadTurnstile(): Promise<Turnstile> {
  loading ??= new Promise((resolve, reject) => {
    const element = document.createElement('script')
    element.src = script
    element.onload = () => {
      // The loaded script defines this global, which has no type.
      const { turnstile } = window as unknown as { turnstile?: Turnstile }
      if (turnstile) resolve(turnstile)
      else reject(new Error('The human check did not load'))
    }
    element.onerror = () => {
      loading = undefined
      reject(new Error('The human check did not load'))
    }
    document.head.append(element)
  })
  return loading
}
