import { Button } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { nowSeconds } from '../../lib/times.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import type { TokenFormState } from './form-values.ts'
import { texts } from './texts.ts'
import styles from './tokens.module.css'

const shortcuts = [
  { name: 'hour', seconds: 3600 },
  { name: 'day', seconds: 86_400 },
  { name: 'month', seconds: 30 * 86_400 },
] as const

export function ExpiryField({ form }: { form: TokenFormState }) {
  const say = useText(texts)
  const set = (at: number | undefined) => form.setFieldValue('expired_time', at)
  return (
    <div>
      <DateTimeInput
        label={say('expires')}
        description={say('expiresHelp')}
        placeholder={say('never')}
        value={form.values.expired_time}
        onChange={set}
        error={form.errors.expired_time}
      />
      <div className={styles.choices}>
        <Button size="compact-sm" variant="default" onClick={() => set(undefined)}>
          {say('never')}
        </Button>
        {shortcuts.map(({ name, seconds }) => (
          <Button key={name} size="compact-sm" variant="default" onClick={() => set(nowSeconds() + seconds)}>
            {say(name)}
          </Button>
        ))}
      </div>
    </div>
  )
}
