mod decisions;
mod packet;
mod refusals;
mod twin;
