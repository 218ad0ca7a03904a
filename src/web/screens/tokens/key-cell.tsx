import type { Token } from '../../../contract/entities/token.ts'
import { fullKey, hasKey } from '../../lib/full-key.ts'
import { useText } from '../../lib/i18n.ts'
import shared from '../../ui/shared.module.css'
import { MaskedText } from '../../ui/view/masked-text.tsx'
import { texts } from './texts.ts'

export function KeyCell({ token }: { token: Token }) {
  const say = useText(texts)
  const { name } = token
  const key = fullKey(token)
  if (!hasKey(token)) return <span className={shared.quiet}>{say('keyOfMember')}</span>
  return (
    <MaskedText
      text={key}
      masked={`${key.slice(0, 7)}…${key.slice(-4)}`}
      name={name}
      show={say('showKey', { name })}
      hide={say('hideKey', { name })}
    />
  )
}
