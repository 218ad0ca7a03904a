import {
  IconBrandGithub,
  IconBrandTelegram,
  IconBrandWechat,
  IconMessages,
  type IconProps,
  IconShieldCheck,
} from '@tabler/icons-react'
import type { OutsideProvider } from '../../contract/entities/outside-account.ts'
import { outsideNames } from '../../contract/entities/outside-account.ts'
import { useLocal } from '../lib/i18n.ts'
import { useStatus } from '../lib/status.ts'

const icons = {
  github: IconBrandGithub,
  linuxdo: IconMessages,
  wechat: IconBrandWechat,
  telegram: IconBrandTelegram,
  oidc: IconShieldCheck,
} as const

export function OutsideIcon({ provider, ...props }: { provider: OutsideProvider } & IconProps) {
  const Icon = icons[provider]
  return <Icon size={18} stroke={1.7} aria-hidden="true" {...props} />
}

/** What the providers are called here. */
export function useOutsideNames(): (provider: OutsideProvider) => string {
  const local = useLocal()
  const { oidc_name: own } = useStatus()
  return (provider) => (provider === 'oidc' && own !== '' ? own : local(outsideNames[provider]))
}
