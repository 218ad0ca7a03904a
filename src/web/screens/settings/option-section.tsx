import { Button, Skeleton } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Section } from '../../../contract/options/define.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useMay } from '../../lib/session.ts'
import { FieldsForm, type FieldValues } from '../../ui/fields-form.tsx'
import { Panel } from '../../ui/panel.tsx'
import { HintTag } from '../../ui/status-tag.tsx'
import type { Drafts } from './drafts.ts'
import { ResetRatios } from './reset-ratios.tsx'
import styles from './settings.module.css'
import { texts } from './texts.ts'

// Loaded on demand, because few tabs have a secret.
const SecretInput = lazy(async () => ({ default: (await import('./secret-input.tsx')).SecretInput }))

interface OptionSectionProps {
  readonly section: Section
  readonly saved: FieldValues
  /** The secrets that have a value. */
  readonly secrets: Readonly<Record<string, boolean>>
  readonly drafts: Drafts
}

/** A setting of this card with a separate page. */
const onwards: Readonly<Record<string, { to: string; search: Record<string, string>; label: keyof typeof texts }>> = {
  logs: { to: '/log', search: {}, label: 'purgeLogs' },
  budgets: { to: '/budgets', search: {}, label: 'toBudgets' },
  groups: { to: '/setting', search: { tab: 'prices' }, label: 'toPrices' },
}

/** One card of settings. */
export function OptionSection({ section, saved, secrets, drafts }: OptionSectionProps) {
  const { place, options } = section
  const say = useText(texts)
  const local = useLocal()
  const isRoot = useMay('root')
  const serverAddress = useServerAddress()
  const isLocked = (key: string) => !isRoot && (options[key]?.writer ?? place.writer) === 'root'

  const onward = onwards[place.name]

  const keys = Object.keys(options)
  const changed = keys.filter((key) => drafts.values[key] !== undefined)
  const locked = keys.every(isLocked)
  const fields = Object.entries(options).map(([name, option]) => ({ ...option, name }))

  function edit(key: string, value: string): void {
    drafts.set(key, value === saved[key] ? undefined : value, place.tab)
  }

  return (
    <div id={place.name} className={styles.anchored}>
      <Panel
        title={local(place.label)}
        description={place.help && local(place.help, { ServerAddress: serverAddress })}
        aside={
          keys.some(isLocked) && (
            <HintTag hint={say('rootOnlyHint')}>
              <IconLock size={13} aria-hidden="true" />
              {say('rootOnly')}
            </HintTag>
          )
        }
        footer={
          !locked &&
          (place.name === 'prices' || onward) && (
            <>
              {place.name === 'prices' && <ResetRatios />}
              {onward && (
                <Button
                  variant="subtle"
                  className={styles.first ?? ''}
                  renderRoot={(button) => <Link {...button} to={onward.to} search={onward.search} />}
                >
                  {say(onward.label)}
                </Button>
              )}
            </>
          )
        }
      >
        <FieldsForm
          fields={fields}
          values={{ ...saved, ...drafts.values }}
          onChange={edit}
          errors={drafts.errors}
          isDisabled={isLocked}
          markOf={(key) =>
            changed.includes(key) && (
              <span className={styles.mark} title={say('changed')} role="img" aria-label={say('changed')} />
            )
          }
          draw={(field) =>
            options[field.name]?.secret && (
              <Suspense fallback={<Skeleton height={58} />}>
                <SecretInput
                  field={field}
                  isSet={secrets[field.name] === true}
                  draft={drafts.values[field.name]}
                  onChange={(value) => drafts.set(field.name, value, place.tab)}
                  error={drafts.errors[field.name]}
                  disabled={isLocked(field.name)}
                />
              </Suspense>
            )
          }
        />
      </Panel>
    </div>
  )
}
