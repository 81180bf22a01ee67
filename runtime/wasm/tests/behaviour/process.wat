;; Has each packet choose one of the acts below by its first byte.

(type $act (func))
(global $descriptor (mut i32) (i32.const 0))
(global $window (mut i32) (i32.const 0))
(global $argument (mut i32) (i32.const 0))

(func (export "weft_process") (param $n i32)
  (global.set $descriptor (i32.const 4096))
  (block $done
    (loop $next
      (br_if $done (i32.eqz (local.get $n)))
      (call $packet)
      (global.set $descriptor (i32.add (global.get $descriptor) (i32.const 48)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $next))))

(func $packet
  ;; The counter `packets`.
  (i64.store (i32.const 16) (i64.add (i64.load (i32.const 16)) (i64.const 1)))
  (global.set $window (i32.load offset=8 (global.get $descriptor)))
  (global.set $argument (i32.load offset=4 (global.get $window)))
  (call_indirect (type $act) (i32.load8_u (global.get $window))))

(func $decide (param $verdict i32) (param $argument i32)
  (i32.store offset=36 (global.get $descriptor) (local.get $verdict))
  (i32.store offset=40 (global.get $descriptor) (local.get $argument)))
(func $drop_if (param $refused i32)
  (call $decide (i32.ne (local.get $refused) (i32.const 0)) (i32.const 0)))
(func $mark
  (i32.store offset=8 (global.get $window) (i32.const 0xabad1dea)))
(func $dirty
  (i32.store offset=44 (global.get $descriptor) (i32.const 1)))

(func $pass (call $decide (i32.const 0) (i32.const 0)))
(func $drop (call $decide (i32.const 1) (global.get $argument)))
(func $output (call $decide (i32.const 2) (global.get $argument)))
(func $goto (call $decide (i32.const 3) (global.get $argument)))
(func $verdict (call $decide (global.get $argument) (i32.const 0)))
(func $silent)
(func $rewrite (call $mark) (call $dirty) (call $pass))
(func $rewrite_quietly (call $mark) (call $pass))
(func $rewrite_and_trap (call $mark) (call $dirty) unreachable)
(func $unreachable unreachable)
(func $load_outside (drop (i32.load (i32.const -4))))
(func $divide_by_zero (drop (i32.div_u (i32.const 1) (i32.const 0))))
(func $float_overflow (drop (i32.trunc_f32_s (f32.const inf))))
(func $null_call (call_indirect (type $act) (i32.const 30)))
(func $wrong_call (call_indirect (param i64) (i64.const 0) (i32.const 0)))
(func $recurse (call $recurse) (call $recurse))
(func $spin (loop $again (br $again)))
(func $grow_memory
  (call $drop_if (i32.eq (memory.grow (global.get $argument)) (i32.const -1))))
(func $grow_table
  (call $drop_if
    (i32.eq (table.grow $acts (ref.null func) (global.get $argument)) (i32.const -1))))
(func $scribble
  (i32.store offset=8 (global.get $descriptor) (i32.const -64))
  (i32.store offset=12 (global.get $descriptor) (i32.const -1))
  (i32.store offset=16 (global.get $descriptor) (i32.const 0))
  (i32.store offset=20 (global.get $descriptor) (i32.const -1))
  (i64.store offset=28 (global.get $descriptor) (i64.const -1))
  (call $mark) (call $dirty) (call $pass))
(func $metadata
  (i64.store (global.get $descriptor) (i64.extend_i32_u (global.get $argument)))
  (call $pass))
(func $echo
  (memory.copy (global.get $window) (global.get $descriptor) (i32.const 48))
  (call $dirty) (call $pass))
(func $log_line
  (call $log
    (i32.const 2) (i32.add (global.get $window) (i32.const 8)) (global.get $argument))
  (call $pass))
(func $log_outside (call $log (i32.const 2) (i32.const -16) (i32.const 64)))
(func $log_flood
  (loop $more
    (call $log (i32.const 3) (global.get $window) (i32.const 1))
    (global.set $argument (i32.sub (global.get $argument) (i32.const 1)))
    (br_if $more (global.get $argument)))
  (call $pass))
(func $decide_and_trap (call $pass) unreachable)
(func $forestall_and_trap
  (i32.store offset=84 (global.get $descriptor) (i32.const 0)) unreachable)
;; The counter `set`.
(func $count
  (i64.store (i32.const 24) (i64.extend_i32_u (global.get $argument)))
  (call $pass))
(func $remember (i32.store (i32.const 60000) (i32.const 1)) (call $pass))
(func $recall (call $drop_if (i32.load (i32.const 60000))))

;; The last element is null.
(table $acts 31 funcref)
(elem (i32.const 0) $pass $drop $output $goto $verdict $silent $rewrite $rewrite_quietly
  $rewrite_and_trap $unreachable $load_outside $divide_by_zero $float_overflow $null_call
  $wrong_call $recurse $spin $grow_memory $grow_table $scribble $metadata $echo $log_line
  $log_outside $log_flood $decide_and_trap $forestall_and_trap $count $remember $recall)
