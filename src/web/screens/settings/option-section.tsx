import { Button } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Section } from '../../../contract/options/define.ts'
import { textOf, useLocal, useText } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { confirm } from '../../ui/confirm.tsx'
import { FieldsForm, type FieldValues } from '../../ui/fields-form.tsx'
import { Panel } from '../../ui/panel.tsx'
import { HintTag } from '../../ui/status-tag.tsx'
import type { Drafts } from './drafts.ts'
import { ResetRatios } from './reset-ratios.tsx'
import { saveOptions } from './save-options.ts'
import { SecretInput } from './secret-input.tsx'
import styles from './settings.module.css'
import { texts } from './texts.ts'

export interface OptionSectionProps {
  readonly section: Section
  readonly saved: FieldValues
  /** The secrets that have a value. */
  readonly secrets: Readonly<Record<string, boolean>>
  readonly drafts: Drafts
}

/** A setting of this card with a separate page. */
const onwards: Readonly<Record<string, { to: string; search: Record<string, string>; label: keyof typeof texts.zh }>> = {
  logs: { to: '/log', search: {}, label: 'purgeLogs' },
  groups: { to: '/setting', search: { tab: 'prices' }, label: 'toPrices' },
}

/** One card of settings with its own save button. */
export function OptionSection({ section, saved, secrets, drafts }: OptionSectionProps) {
  const { place, options } = section
  const say = useText(texts)
  const local = useLocal()
  const isRoot = useMay('root')
  const serverAddress = useStatus().server_address || window.location.origin
  const { save, saving } = useSave(section, drafts)
  const isLocked = (key: string) => !isRoot && (options[key]?.writer ?? place.writer) === 'root'

  const onward = onwards[place.name]

  const keys = Object.keys(options)
  const changed = keys.filter((key) => drafts.values[key] !== undefined)
  const locked = keys.every(isLocked)
  const fields = Object.entries(options).map(([name, option]) => ({ ...option, name }))

  function edit(key: string, value: string): void {
    drafts.set(key, value === saved[key] ? undefined : value)
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
          !locked && (
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
              {changed.length > 0 && <span className={styles.unsaved}>{say('unsaved', { count: changed.length })}</span>}
              {changed.length > 0 && (
                <Button variant="default" onClick={() => drafts.drop(changed)} disabled={saving}>
                  {say('undo')}
                </Button>
              )}
              <Button variant={changed.length > 0 ? 'filled' : 'default'} onClick={() => void save()} loading={saving}>
                {say('save')}
              </Button>
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
              <SecretInput
                field={field}
                isSet={secrets[field.name] === true}
                draft={drafts.values[field.name]}
                onChange={(value) => drafts.set(field.name, value)}
                error={drafts.errors[field.name]}
                disabled={isLocked(field.name)}
              />
            )
          }
        />
      </Panel>
    </div>
  )
}

function useSave({ options }: Section, drafts: Drafts): { save: () => Promise<void>; saving: boolean } {
  const say = useText(texts)
  const client = useQueryClient()
  const [saving, setSaving] = useState(false)

  async function save(): Promise<void> {
    const own = Object.fromEntries(Object.entries(drafts.values).filter(([key]) => key in options))
    if (Object.keys(own).length === 0) return toast.warn(say('nothingChanged'))
    setSaving(true)
    try {
      await saveOwn(own)
    } catch (cause) {
      toast.failureOf(say('failed'), cause)
    } finally {
      setSaving(false)
    }
  }

  async function saveOwn(own: FieldValues): Promise<void> {
    // The schemas and their library are heavier than all fields together.
    const { checkDrafts } = await import('./check-drafts.ts')
    const wrong = checkDrafts(options, own)
    if (Object.keys(wrong).length > 0) {
      drafts.setErrors(wrong)
      return toast.error(say('checkInput'))
    }

    if (own.PasswordLoginEnabled === 'false' && !(await confirmPasswordLoginOff())) return

    const { saved, refused } = await saveOptions(options, own)
    await invalidate(client, ['GET /api/option/', 'GET /api/option/secrets', 'GET /api/status'])
    drafts.drop(saved)
    drafts.setErrors(refused)
    if (Object.keys(refused).length > 0) toast.error(say(saved.length > 0 ? 'partlyFailed' : 'failed'))
    else if (saved.length > 0) toast.success(say('saved'))
  }

  return { save, saving }
}

/** Users without another login method, admins too, would be locked out. */
function confirmPasswordLoginOff(): Promise<boolean> {
  return confirm({
    title: textOf(texts, 'passwordLoginOff'),
    body: textOf(texts, 'passwordLoginOffBody'),
    confirmLabel: textOf(texts, 'passwordLoginOffConfirm'),
    danger: true,
  })
}
